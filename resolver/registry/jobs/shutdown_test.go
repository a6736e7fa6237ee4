package jobs_test

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// lastPut is a store that calls ended once an import has removed its position, which it does at its end.
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
	if table == registry.TableImports && documents[0].Value == nil {
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
