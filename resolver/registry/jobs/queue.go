package jobs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Tokens take turns, round-robin: the first jobs of all tokens run, then the second ones, and so on. Jobs of
// one token run in the order in which they were accepted. Accept assigns the turn of a job: the turn after
// that of the previous job with the same token, but not one that is over. So a token with a hundred jobs
// delays each other token by one job only.

// queue is the shared state of the job order.
type queue struct {
	Order int64 `json:"order"` // of the last accepted job
	Turn  int64 `json:"turn"`  // of the last started job
}

// waiting is the index entry of an unfinished job.
type waiting struct {
	Token   string    `json:"token"` // of the upload
	Turn    int64     `json:"turn"`
	Order   int64     `json:"order"`
	Updated time.Time `json:"updated"`
}

// retainedEntry is the index entry of a job of a token, finished or not.
type retainedEntry struct {
	Turn int64 `json:"turn"`
}

// item is an index entry with its job ID.
type item[T any] struct {
	id string
	of T
}

// ofToken returns the key prefix of the jobs of a token, "" for administrators.
func ofToken(token string) string { return keyToken + token + " " }

// items reads the documents with a key prefix, in key order. The keys end with job IDs.
func items[T any](tx registry.Tx, prefix string) (all []item[T], err error) {
	const page = 1000
	for after := ""; ; {
		documents, err := tx.Documents(registry.TableJobs, prefix, after, page)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			one := item[T]{id: d.Key[strings.LastIndexByte(d.Key, ' ')+1:]}
			if err := decode(d.Value, &one.of); err != nil {
				return nil, err
			}
			all, after = append(all, one), d.Key
		}
		if len(documents) < page || len(all) >= maxItems {
			return all, nil
		}
	}
}

// queued returns the unfinished jobs in the order in which they run.
func queued(tx registry.Tx) ([]item[waiting], error) {
	all, err := items[waiting](tx, keyWaiting)
	slices.SortFunc(all, func(a, b item[waiting]) int {
		return cmp.Or(cmp.Compare(a.of.Turn, b.of.Turn), cmp.Compare(a.of.Order, b.of.Order))
	})
	return all, err
}

// readQueue returns the stored queue, initially the zero value.
func readQueue(tx registry.Tx) (q queue, err error) {
	value, err := tx.Document(registry.TableJobs, keyQueue)
	if err == nil && value != nil {
		err = decode(value, &q)
	}
	return q, err
}

// enqueue assigns the order and the turn of a job. own are the jobs of its token.
func enqueue(tx registry.WriteTx, made *storedJob, own []item[retainedEntry]) error {
	q, err := readQueue(tx)
	if err != nil {
		return err
	}
	q.Order++
	made.Order, made.Turn = q.Order, q.Turn
	for _, before := range own {
		made.Turn = max(made.Turn, before.of.Turn+1)
	}
	return write(tx, map[string]any{keyQueue: q, ofToken(made.Actor.Token) + made.ID: retainedEntry{made.Turn}})
}

// begin advances the current turn to that of a job.
func begin(tx registry.WriteTx, j storedJob) error {
	q, err := readQueue(tx)
	if err != nil || q.Turn >= j.Turn {
		return err
	}
	q.Turn = j.Turn
	return write(tx, map[string]any{keyQueue: q})
}
