package jobs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/diff"
)

// State is the state of a job.
type State string

// The states.
const (
	Queued      State = "queued"
	Running     State = "running"
	Done        State = "done"        // also where lines were rejected
	Failed      State = "failed"      // what was written before is there
	Cancelled   State = "cancelled"   // what was written before is there
	Interrupted State = "interrupted" // its instance has not been heard of for minutes; it goes on when that is back
)

// ended reports whether nothing more happens.
func (s State) ended() bool { return s == Done || s == Failed || s == Cancelled }

// Rewrite is the format of a job that moves targets; its body is a RewriteBody.
const Rewrite bulk.Format = "rewrite"

// Job is an import of many names, or a rewrite of their targets.
type Job struct {
	ID        string      `json:"id"`
	State     State       `json:"state"`
	By        string      `json:"by"`
	Format    bulk.Format `json:"format"`
	DryRun    bool        `json:"dry_run,omitempty"`
	Overwrite bool        `json:"overwrite,omitempty"`
	Note      string      `json:"note,omitempty"`
	Encoding  string      `json:"encoding,omitempty"` // that the request said the body has
	Octets    int64       `json:"octets"`             // of the body

	Created time.Time `json:"created"`
	Started time.Time `json:"started,omitzero"`
	Updated time.Time `json:"updated"`
	Ended   time.Time `json:"ended,omitzero"`

	Progress Progress     `json:"progress"`
	Report   *bulk.Report `json:"report,omitempty"` // what was done, at the end
	Error    string       `json:"error,omitempty"`  // why it failed
	// Differences says, of a dry run that has ended, how many names would change; a file has them.
	Differences *diff.Counts `json:"differences,omitempty"`
	// Rejections are the first lines that were rejected; a file has the others.
	Rejections []Rejection `json:"rejections"`
}

// Progress says how far a job is.
type Progress struct {
	Stage    string `json:"stage,omitempty"` // reading or writing
	Octets   int64  `json:"octets"`          // read
	Lines    int64  `json:"lines"`           // read
	Done     int64  `json:"done"`            // names that were written
	Total    int64  `json:"total"`           // names to write; 0 while it is not known
	Rejected int64  `json:"rejected"`        // lines
}

// Rejection is a line that was not imported.
type Rejection struct {
	Line   int64  `json:"line"` // 1 is the first one
	Reason string `json:"reason"`
	// Code is that of the reason, "" for none, and Values are those of its message: see registry.Error.
	Code   string   `json:"code,omitempty"`
	Values []string `json:"values,omitempty"`
	// RuleCode and RuleValue say which rule of syntax an identifier breaks, "" for none: see uri.Rule.
	RuleCode  string `json:"rule_code,omitempty"`
	RuleValue string `json:"rule_value,omitempty"`
	Input     string `json:"input"` // its beginning
}

// storedJob is a Job as it is stored.
type storedJob struct {
	Job
	Actor   registry.Actor `json:"actor"`
	Turn    int64          `json:"turn"`              // see queue.go
	Order   int64          `json:"order"`             // of those with the same turn; it is given where one is accepted
	Cancel  bool           `json:"cancel,omitempty"`  // it is to be cancelled
	Request string         `json:"request,omitempty"` // key of its document in registry.TableRequests
}

// body returns which files it has.
func (j *storedJob) body() spooled { return spooled{j.Actor.Token, j.ID} }

// isID reports whether a text may be the ID of a job, which is also part of the name of a file.
func isID(text string) bool {
	return len(text) == len("20310501T120000-0123456789abcdef") && strings.Trim(text, "0123456789abcdefT-") == ""
}

// The keys in registry.TableJobs begin with what their documents are. IDs are in the order of time.
const (
	keyJob     = "job "     // ID: a storedJob
	keyWaiting = "waiting " // ID: of a job that has not ended, as waiting
	keyToken   = "token "   // TOKEN ID: of each job that was sent with a token, as kept
	keyQueue   = "queue"    // what is next, as queue
)

// read reads a job; registry.ErrJob if there is none.
func read(tx registry.Tx, id string) (j storedJob, err error) {
	if !isID(id) {
		return j, registry.ErrJob
	}
	value, err := tx.Document(registry.TableJobs, keyJob+id)
	switch {
	case err != nil:
		return j, err
	case value == nil:
		return j, registry.ErrJob
	default:
		return j, decode(value, &j)
	}
}

func decode(value []byte, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		return fmt.Errorf("%w: reading a job: %w", registry.ErrDamaged, err)
	}
	return nil
}

// documents returns the documents of values by their keys. A value of nil removes its document.
func documents(values map[string]any) (all []registry.Document, err error) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		d := registry.Document{Key: key}
		if value := values[key]; value != nil {
			if d.Value, err = json.Marshal(value); err != nil {
				return nil, fmt.Errorf("writing a job: %w", err)
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// put writes a job, and whether it waits.
func put(tx registry.WriteTx, j storedJob) error {
	values := map[string]any{keyJob + j.ID: j, keyWaiting + j.ID: nil}
	if !j.State.ended() {
		values[keyWaiting+j.ID] = waiting{j.Actor.Token, j.Turn, j.Order, j.Updated}
	}
	return write(tx, values)
}

func write(tx registry.WriteTx, values map[string]any) error {
	all, err := documents(values)
	if err != nil {
		return err
	}
	return tx.Put(registry.TableJobs, all)
}

// remove removes a job, and the key by which it was sent.
func remove(tx registry.WriteTx, j storedJob) error {
	if err := write(tx, map[string]any{keyJob + j.ID: nil, keyWaiting + j.ID: nil, ofToken(j.Actor.Token) + j.ID: nil}); err != nil || j.Request == "" {
		return err
	}
	return tx.Put(registry.TableRequests, []registry.Document{{Key: j.Request}})
}
