package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// document writes a document of format version 1, in which the side tables were JSON documents by key.
func (l *loader) document(d *dumpedDocument) error {
	var err error
	switch d.Table {
	case "token":
		err = with(d, l.t.AddToken)
	case "mint":
		err = with(d, func(counter struct{ Next uint64 }) error { return l.t.SetMintCounter(d.Key, counter.Next) })
	case "resolved":
		count := registry.Resolved{Name: d.Key}
		if i := strings.LastIndexByte(d.Key, ' '); i >= 0 {
			count.Name, count.Period = d.Key[:i], d.Key[i+1:]
		}
		if _, err = fmt.Sscanf(d.Value, "%d %d", &count.People, &count.Bots); err == nil {
			err = l.t.AddResolved([]registry.Resolved{count})
		}
	case "health":
		err = l.healthBefore(d)
	case "lease":
		err = with(d, func(h registry.Holding) error { return l.t.SetLease(d.Key, h) })
	case "import":
		err = l.put(registry.TableImports, d)
	case "job":
		err = l.jobBefore(d)
	case "request":
		err = l.put(registry.TableRequests, d)
	case "mark":
		err = l.put(registry.TableMarks, d)
	default:
		err = fmt.Errorf("unknown table %q", d.Table)
	}
	if err != nil {
		return fmt.Errorf("%w: document %s of %s: %w", registry.ErrDamaged, d.Key, d.Table, err)
	}
	return nil
}

// with calls f with the parsed JSON of a document.
func with[T any](d *dumpedDocument, f func(T) error) error {
	var value T
	if err := json.Unmarshal([]byte(d.Value), &value); err != nil {
		return err
	}
	return f(value)
}

func (l *loader) put(table registry.Table, d *dumpedDocument) error {
	return l.t.Put(table, []registry.Document{{Key: d.Key, Value: []byte(d.Value)}})
}

// healthBefore writes the health of a target, or the mark of the health checker, from format version 1.
func (l *loader) healthBefore(d *dumpedDocument) error {
	if mark, ok := strings.CutPrefix(d.Key, " "); ok {
		return l.t.Put(registry.TableMarks, []registry.Document{{Key: mark, Value: []byte(d.Value)}})
	}
	name, _, _ := strings.Cut(d.Key, " ")
	h := registry.Health{Name: name}
	detail := make(map[string]json.RawMessage)
	err := errors.Join(json.Unmarshal([]byte(d.Value), &h), json.Unmarshal([]byte(d.Value), &detail))
	for _, column := range healthColumns() {
		delete(detail, column)
	}
	if err == nil {
		h.Detail, err = json.Marshal(detail)
	}
	if err != nil {
		return err
	}
	return l.t.PutHealth(h)
}

// jobBefore writes the documents of a job from format version 1, which lacked the index by token and the queue:
// see resolver/registry/jobs.
func (l *loader) jobBefore(d *dumpedDocument) error {
	var job struct {
		State   string
		Updated time.Time
		Actor   struct{ Token string }
	}
	if err := json.Unmarshal([]byte(d.Value), &job); err != nil {
		return err
	}
	all := []registry.Document{
		{Key: "job " + d.Key, Value: []byte(d.Value)}, {Key: "token " + job.Actor.Token + " " + d.Key, Value: []byte(`{"turn":0}`)},
	}
	if job.State == "queued" || job.State == "running" {
		value, err := json.Marshal(map[string]any{"token": job.Actor.Token, "turn": 0, "order": 0, "updated": job.Updated})
		if err != nil {
			return err
		}
		all = append(all, registry.Document{Key: "waiting " + d.Key, Value: value})
	}
	return l.t.Put(registry.TableJobs, all)
}
