package registry

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry/merkle"
)

// A redaction removes the targets, metadata and contact of versions for good: from the history, from what was at a time, and from exports
// and backups that are made afterwards. When it was made, by whom and why stays, and so does the hash of what was removed. The
// redaction itself is a row of the registry.

// redactionRow returns the event of a redaction, after which a row is what it is now: what of it is not in its leaf is in that of the event.
func redactionRow(seq Seq, redacted *Row, by, reason string, at int64) Row {
	w := writer{b: []byte{formatRedaction}}
	w.number(uint64(redacted.Seq)) //nolint:gosec // it is positive
	w.b = binary.AppendVarint(w.b, at)
	w.text(by)
	w.text(reason)
	digest := sha256.Sum256(redacted.Octets)
	return Row{Seq: seq, Key: redacted.Key, Octets: append(w.b, digest[:]...)}
}

// redaction is the event of a redaction.
type redaction struct {
	of         Seq
	at         time.Time
	by, reason string
	// digest is that of the octets of the version since then; nil where it was not written.
	digest *merkle.Hash
}

// redaction returns the event that a row is, if it is one.
func (r *Row) redaction() (found redaction, is bool) {
	if len(r.Octets) == 0 || r.Octets[0] != formatRedaction {
		return redaction{}, false
	}
	rd := reader{b: string(r.Octets[1:])}
	found.of = Seq(rd.number()) //nolint:gosec // only redactionRow writes it
	found.at, found.by, found.reason = rd.time(), rd.text(), rd.text()
	if left := []byte(rd.b); len(left) == len(merkle.Hash{}) {
		found.digest = (*merkle.Hash)(left)
		rd.skip(len(left))
	}
	return found, !rd.left()
}

// Redact removes the targets, metadata and contact of versions of a key, as a change set of its own, which the reason stands for. It
// returns how many it has redacted: those that were redacted before are not among them.
// The current version of a name that leads somewhere cannot be redacted: it is changed first, and then is not the current one.
func (r *Registry) Redact(ctx context.Context, actor Actor, key Key, versions []int, reason string) (redacted int, err error) {
	if key, err = r.KeyOf(ctx, key); err != nil {
		return 0, err
	}
	if err := actor.May(Admin, key); err != nil {
		return 0, err
	}
	if reason == "" {
		return 0, fmt.Errorf("%w: redacting %s needs a reason: it is what remains", ErrInvalid, key)
	}
	if err := CheckText("reason", reason, MaxText); err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrInvalid, key, err)
	}
	var changes []Changed
	err = r.config.Store.Write(ctx, func(tx WriteTx) error {
		changes = nil
		found, err := versionsWith(tx, key, versions)
		if err != nil || len(found) == 0 {
			return err
		}
		if err := redactVersions(tx, found, actor.Name, reason, r.Now()); err != nil {
			return err
		}
		if err := forgetHealth(tx, key.Name); err != nil {
			return err
		}
		changes, err = countRedacted(tx, key, found, reason)
		return err
	})
	if err != nil {
		return 0, err
	}
	if r.config.Audit != nil && len(changes) > 0 {
		r.config.Audit(ctx, actor, changes)
	}
	return len(changes), nil
}

// redactVersions removes the content of versions of a key, and writes that it was done.
func redactVersions(tx WriteTx, found []Entry, by, reason string, now time.Time) error {
	c, err := openChain(tx)
	if err != nil {
		return err
	}
	var rows, events []Row
	for i := range found {
		row, err := rowAt(tx, found[i].Seq)
		if err == nil {
			row, err = row.redacted()
		}
		if err != nil {
			return err
		}
		rows = append(rows, row)
		events = append(events, redactionRow(c.head()+Seq(len(events))+1, &row, by, reason, now.UnixMilli()))
	}
	if err := tx.Rewrite(rows); err != nil {
		return err
	}
	return c.append(events, 0)
}

// forgetHealth removes what is known of the health of the targets of a name, in which there are URIs that were redacted. That of those
// which it still has is found anew.
func forgetHealth(tx WriteTx, name string) error {
	for {
		page, err := tx.Documents(TableHealth, name+" ", "", rowsPage) // no canonical name has a space
		if err != nil {
			return err
		}
		for i := range page {
			page[i].Value = nil
		}
		if err := tx.Put(TableHealth, page); err != nil || len(page) < rowsPage {
			return err
		}
	}
}

// countRedacted returns the changes that redactions of versions of a key are, and counts the current one anew if it is among them.
func countRedacted(tx WriteTx, key Key, found []Entry, reason string) (changes []Changed, err error) {
	current, err := tx.Entries([]Key{key})
	if err != nil {
		return nil, err
	}
	totals := new(Totals)
	for i := range found {
		after := found[i]
		after.Targets, after.Metadata, after.Contact, after.Redacted, after.Note = nil, "", "", true, reason
		changes = append(changes, Changed{found[i], after})
		if found[i].Seq == current[0].Seq {
			totals.add(&found[i], -1)
			totals.add(&after, 1)
		}
	}
	return changes, addTotals(tx, map[string]*Totals{groupOf(key.Name): totals})
}

// versionsWith returns the versions of a key that have some numbers, without those that are redacted.
func versionsWith(tx Tx, key Key, numbers []int) (found []Entry, err error) {
	wanted := make(map[int]bool, len(numbers))
	for _, n := range numbers {
		wanted[n] = true
	}
	current := true
	for before := Seq(0); ; {
		page, err := tx.Versions(key, before, versionsPage)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			before = e.Seq
			if wanted[e.Version] {
				delete(wanted, e.Version)
				if current && e.Status == Active {
					return nil, fmt.Errorf("%w: version %d of %s is the current one, and leads somewhere: change or withdraw it first",
						ErrConflict, e.Version, key)
				}
				if !e.Redacted {
					found = append(found, e)
				}
			}
			current = false
		}
		if len(page) < versionsPage {
			break
		}
	}
	for n := range wanted {
		return nil, fmt.Errorf("%w: version %d of %s", ErrUnknown, n, key)
	}
	return found, nil
}
