package jobs

import (
	"encoding/json"
	"fmt"
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
	Octets    int64       `json:"octets"` // of the body

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
	Input  string `json:"input"` // its beginning
}

// storedJob is a Job as it is stored.
type storedJob struct {
	Job
	Actor   registry.Actor `json:"actor"`
	Order   int64          `json:"order"`             // jobs run in this order; it is given where one is accepted
	Cancel  bool           `json:"cancel,omitempty"`  // it is to be cancelled
	Request string         `json:"request,omitempty"` // key of its document in registry.TableRequests
}

// isID reports whether a text may be the ID of a job, which is also part of the name of a file.
func isID(text string) bool {
	return len(text) == len("20310501T120000-0123456789abcdef") && strings.Trim(text, "0123456789abcdefT-") == ""
}

// read reads a job; ErrUnknown if there is none.
func read(tx registry.Tx, id string) (j storedJob, err error) {
	if !isID(id) {
		return j, ErrUnknown
	}
	value, err := tx.Document(registry.TableJobs, id)
	switch {
	case err != nil:
		return j, err
	case value == nil:
		return j, ErrUnknown
	default:
		return decode(value)
	}
}

func decode(value []byte) (j storedJob, err error) {
	if err := json.Unmarshal(value, &j); err != nil {
		return j, fmt.Errorf("%w: reading a job: %w", registry.ErrDamaged, err)
	}
	return j, nil
}

func put(tx registry.WriteTx, j storedJob) error {
	value, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("writing a job: %w", err)
	}
	return tx.Put(registry.TableJobs, []registry.Document{{Key: j.ID, Value: value}})
}
