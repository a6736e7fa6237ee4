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
	Queued    State = "queued"
	Running   State = "running"
	Done      State = "done"      // even if lines were rejected
	Failed    State = "failed"    // transactions committed before remain
	Cancelled State = "cancelled" // transactions committed before remain
	// Interrupted: the instance of the job has been silent for minutes; the job continues when it is back.
	Interrupted State = "interrupted"
)

// ended reports whether the state is final.
func (s State) ended() bool { return s == Done || s == Failed || s == Cancelled }

// Rewrite is the format of a job that rewrites targets; its body is a RewriteBody.
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
	Encoding  string      `json:"encoding,omitempty"` // of the body, as requested
	Size      int64       `json:"bytes"`              // size of the body in bytes

	Created time.Time `json:"created"`
	Started time.Time `json:"started,omitzero"`
	Updated time.Time `json:"updated"`
	Ended   time.Time `json:"ended,omitzero"`

	Progress Progress     `json:"progress"`
	Report   *bulk.Report `json:"report,omitempty"` // the result, at the end
	Error    string       `json:"error,omitempty"`  // why it failed
	// Differences counts the names that a finished dry run would change; the details are in a file.
	Differences *diff.Counts `json:"differences,omitempty"`
	// Rejections are the first rejected lines; all of them are in a file.
	Rejections []Rejection `json:"rejections"`
}

// Progress is the progress of a job.
type Progress struct {
	Stage    string `json:"stage,omitempty"` // reading or writing
	Bytes    int64  `json:"bytes"`           // bytes read
	Lines    int64  `json:"lines"`           // read
	Done     int64  `json:"done"`            // lines written, or names of a rewrite
	Total    int64  `json:"total"`           // lines to write; 0 if unknown
	Rejected int64  `json:"rejected"`        // lines
}

// Rejection is a line that was not imported.
type Rejection struct {
	Line   int64  `json:"line"` // one-based
	Reason string `json:"reason"`
	// Code is the message code of the reason, "" if it has none, and Values are the arguments of the message:
	// see registry.Error.
	Code   string   `json:"code,omitempty"`
	Values []string `json:"values,omitempty"`
	// RuleCode and RuleValue identify the syntax rule that an identifier violates, "" for none: see uri.Rule.
	RuleCode  string `json:"rule_code,omitempty"`
	RuleValue string `json:"rule_value,omitempty"`
	Input     string `json:"input"` // truncated
}

// storedJob is the stored document of a Job.
type storedJob struct {
	Job
	Actor   registry.Actor `json:"actor"`
	Turn    int64          `json:"turn"`              // see queue.go
	Order   int64          `json:"order"`             // position among jobs with the same turn, set by Accept
	Cancel  bool           `json:"cancel,omitempty"`  // cancellation was requested
	Request string         `json:"request,omitempty"` // key of its document in registry.TableRequests
}

// body identifies the files of the job.
func (j *storedJob) body() spooled { return spooled{j.Actor.Token, j.ID} }

// isID reports whether a text is a valid job ID. IDs are parts of file names.
func isID(text string) bool {
	return len(text) == len("20310501T120000-0123456789abcdef") && strings.Trim(text, "0123456789abcdefT-") == ""
}

// Prefixes of the keys in registry.TableJobs, by type of document. IDs sort by time.
const (
	keyJob     = "job "     // followed by the ID: a storedJob
	keyWaiting = "waiting " // followed by the ID of an unfinished job: its waiting
	keyToken   = "token "   // followed by the token and the ID of each of its jobs: its kept
	keyQueue   = "queue"    // the queue
)

// read reads a job; registry.ErrUnknownJob if there is none.
func read(tx registry.Tx, id string) (j storedJob, err error) {
	if !isID(id) {
		return j, registry.ErrUnknownJob
	}
	value, err := tx.Document(registry.TableJobs, keyJob+id)
	switch {
	case err != nil:
		return j, err
	case value == nil:
		return j, registry.ErrUnknownJob
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

// documents encodes values as documents, by key. A nil value deletes its document.
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

// put writes a job, and its entry in the index of unfinished jobs.
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

// source returns the key of the position of the job's import or rewrite in registry.TableImports. The document of a
// job that was cancelled or has failed remains until the job is removed.
func (j *storedJob) source() string { return "job " + j.ID }

// remove deletes a job, its index entries, its position and its idempotency key.
func remove(tx registry.WriteTx, j storedJob) error {
	err := write(tx, map[string]any{
		keyJob + j.ID: nil, keyWaiting + j.ID: nil,
		ofToken(j.Actor.Token) + j.ID: nil,
	})
	if err == nil {
		err = tx.Put(registry.TableImports, []registry.Document{{Key: j.source()}})
	}
	if err != nil || j.Request == "" {
		return err
	}
	return tx.Put(registry.TableRequests, []registry.Document{{Key: j.Request}})
}
