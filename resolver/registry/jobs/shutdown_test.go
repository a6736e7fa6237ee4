package jobs_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// lastPut is a store that calls ended once an import has written all, as its position says.
type lastPut struct {
	registry.Store
	ended func()
}

func (l lastPut) Write(ctx context.Context, f func(registry.WriteTx) error) error {
	isLast := false
	err := l.Store.Write(ctx, func(tx registry.WriteTx) error { return f(lastPutTx{tx, &isLast}) })
	if isLast {
		l.ended()
	}
	return err
}

type lastPutTx struct {
	registry.WriteTx
	isLast *bool
}

func (l lastPutTx) Put(table registry.Table, documents []registry.Document) error {
	if table == registry.TableImports && bytes.Contains(documents[0].Value, []byte(`"done":true`)) {
		*l.isLast = true
	}
	return l.WriteTx.Put(table, documents)
}

// A job that ends while urnd shuts down is done: repeated, it would report nothing as new, and overwrite what was
// changed since.
func TestEndAtShutdown(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	j, _ := newJobs(lastPut{openStore(t, dir), cancel}, dir, io.Discard)
	job := accept(t, j, root, "", lines(several))
	var all sync.WaitGroup
	all.Go(func() { j.Run(ctx) })
	all.Wait()
	job, err := j.Get(t.Context(), root, job.ID)
	if err != nil || job.State != jobs.Done || job.Report == nil || job.Report.New != several {
		t.Errorf("%+v, %v", job, err)
	}
}

// A job whose instance does not return can be cancelled, and then no longer blocks the jobs of other instances.
func TestCancelInterrupted(t *testing.T) {
	dir, otherDir := t.TempDir(), t.TempDir()
	store := openStore(t, dir)
	now := time.Now()
	same := func(text string) (string, error) { return text, nil }
	r := registry.New(registry.Config{
		Store: store, Canonical: same, CanonicalPrefix: same, Now: func() time.Time { return now },
	})
	instance := func(dir string) *jobs.Jobs {
		return jobs.New(jobs.Config{
			Registry: r, Directory: filepath.Join(dir, "jobs"), MaxBody: maxBody, Log: slog.New(slog.DiscardHandler),
		})
	}
	lost, other := instance(dir), instance(otherDir)
	job := accept(t, lost, root, "", lines(10))
	if err := store.Write(t.Context(), func(tx registry.WriteTx) error {
		value, err := tx.Document(registry.TableJobs, "job "+job.ID)
		if err != nil {
			return err
		}
		value = bytes.Replace(value, []byte(`"state":"queued"`), []byte(`"state":"running"`), 1)
		return tx.Put(registry.TableJobs, []registry.Document{{Key: "job " + job.ID, Value: value}})
	}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(6 * time.Minute)
	if job, err := other.Cancel(t.Context(), root, job.ID); err != nil || job.State != jobs.Cancelled ||
		!job.Ended.Equal(job.Updated) {
		t.Errorf("%+v, %v", job, err)
	}
	next := accept(t, other, root, "", lines(10))
	running(t, other)
	await(t, other, next.ID, jobs.Done)
}
