package jobs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Tokens take turns: the first jobs of all tokens that have some are run, then the second ones. Those of one token run in the order in which
// they were accepted. A job has its turn from the beginning: the one after that of the job before with the same token, but none that has
// been already. So who sends a hundred jobs has others wait for one of them.

// queue is what all instances know of the order of jobs.
type queue struct {
	Order int64 `json:"order"` // of the job that was accepted last
	Turn  int64 `json:"turn"`  // of the job that was begun last
}

// waiting is a job that has not ended.
type waiting struct {
	Token   string    `json:"token"` // by which it was sent
	Turn    int64     `json:"turn"`
	Order   int64     `json:"order"`
	Updated time.Time `json:"updated"`
}

// kept is a job, whether it has ended or not.
type kept struct {
	Turn int64 `json:"turn"`
}

// item is a document of one of these, with the ID of its job.
type item[T any] struct {
	id string
	of T
}

// ofToken is what the keys begin with that say which jobs were sent with a token, "" for those of administrators.
func ofToken(token string) string { return keyToken + token + " " }

// items reads documents whose keys begin with a prefix, and end with the ID of a job, in the order of their keys.
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

// queued returns the jobs that have not ended, in the order in which they run.
func queued(tx registry.Tx) ([]item[waiting], error) {
	all, err := items[waiting](tx, keyWaiting)
	slices.SortFunc(all, func(a, b item[waiting]) int {
		return cmp.Or(cmp.Compare(a.of.Turn, b.of.Turn), cmp.Compare(a.of.Order, b.of.Order))
	})
	return all, err
}

// readQueue returns the queue, which is the zero value at first.
func readQueue(tx registry.Tx) (q queue, err error) {
	value, err := tx.Document(registry.TableJobs, keyQueue)
	if err == nil && value != nil {
		err = decode(value, &q)
	}
	return q, err
}

// enqueue gives a job its place behind those of its token, which are given.
func enqueue(tx registry.WriteTx, made *storedJob, own []item[kept]) error {
	q, err := readQueue(tx)
	if err != nil {
		return err
	}
	q.Order++
	made.Order, made.Turn = q.Order, q.Turn
	for _, before := range own {
		made.Turn = max(made.Turn, before.of.Turn+1)
	}
	return write(tx, map[string]any{keyQueue: q, ofToken(made.Actor.Token) + made.ID: kept{made.Turn}})
}

// begin says that the turn of a job has come.
func begin(tx registry.WriteTx, j storedJob) error {
	q, err := readQueue(tx)
	if err != nil || q.Turn >= j.Turn {
		return err
	}
	q.Turn = j.Turn
	return write(tx, map[string]any{keyQueue: q})
}
