package bulk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// position is the progress of an import. It is stored as a document in registry.TableImports, in the same
// transaction as the names, so that an interrupted import can be continued.
type position struct {
	Digest    string    `json:"digest"` // of the input and the options
	Started   time.Time `json:"started"`
	By        string    `json:"by"`
	After     []byte    `json:"after"` // order of the last unit written
	Names     int64     `json:"names"`
	New       int64     `json:"new"`
	Changed   int64     `json:"changed"`
	Unchanged int64     `json:"unchanged"`
	Rejected  int64     `json:"rejected"` // in the second stage

	// Other is the last name, or prefix, whose version in the registry differs from the version with the same
	// number in the input.
	Other string `json:"other,omitempty"`

	// Set is the change set of the import.
	Set registry.ChangeSet `json:"set"`

	Done bool `json:"done,omitempty"` // nothing is left to write: see Import.KeepPosition

	document []byte // the stored JSON; nil if none is stored
}

// count counts a unit as new, changed or unchanged.
func (p *position) count(before registry.Entry, changed bool) {
	p.Names++
	switch {
	case !changed:
		p.Unchanged++
	case before.Exists():
		p.Changed++
	default:
		p.New++
	}
}

// position returns the start of the import, or the stored position if the same input was interrupted.
func (r *run) position(ctx context.Context, digest string) (position, error) {
	p := position{Digest: digest, Started: r.report.Started, By: r.Actor.Name}
	if r.Source == "" {
		return p, nil
	}
	err := r.Registry.Store().Read(ctx, func(tx registry.Tx) (err error) {
		p.document, err = tx.Document(registry.TableImports, r.Source)
		return err
	})
	if err != nil {
		return p, fmt.Errorf("reading the import position: %w", err)
	}
	var before position
	if p.document == nil || r.DryRun {
		return p, nil
	}
	if json.Unmarshal(p.document, &before) != nil || before.Digest != digest {
		return p, nil //nolint:nilerr // other input starts from the beginning
	}
	before.document = p.document
	r.report.Continued, r.report.Started = true, before.Started
	r.show(&before)
	return before, nil
}

// checkPosition returns registry.ErrConflict if another import uses the same source.
func (r *run) checkPosition(tx registry.Tx, p *position) error {
	if r.Source == "" || r.DryRun {
		return nil
	}
	document, err := tx.Document(registry.TableImports, r.Source)
	if err == nil && !bytes.Equal(document, p.document) {
		err = fmt.Errorf("another process is importing the same input: %w", registry.ErrConflict)
	}
	return err
}

// putPosition stores the position; after the last batch it deletes it, unless it is to be kept.
func (r *run) putPosition(tx registry.WriteTx, p *position, last bool) error {
	if r.Source == "" {
		return nil
	}
	p.document, p.Done = nil, last
	if !last || r.KeepPosition {
		text, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("recording the import position: %w", err)
		}
		p.document = text
	}
	return tx.Put(registry.TableImports, []registry.Document{{Key: r.Source, Value: p.document}})
}

// show copies the counts of a position to the report.
func (r *run) show(p *position) {
	r.report.Names, r.report.New, r.report.Changed, r.report.Unchanged = p.Names, p.New, p.Changed, p.Unchanged
	r.report.Rejected = r.unread + p.Rejected
}
