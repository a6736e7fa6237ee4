package jobs_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// lostResult is a store that fails when the first job is done, and calls failed: as after a crash between the last
// transaction of a job and the write of its result.
type lostResult struct {
	registry.Store
	once   *sync.Once
	failed func()
}

func (l lostResult) Write(ctx context.Context, f func(registry.WriteTx) error) error {
	return l.Store.Write(ctx, func(tx registry.WriteTx) error { return f(lostResultTx{tx, l}) })
}

type lostResultTx struct {
	registry.WriteTx
	of lostResult
}

func (l lostResultTx) Put(table registry.Table, documents []registry.Document) (err error) {
	for _, d := range documents {
		if table == registry.TableJobs && bytes.Contains(d.Value, []byte(`"state":"done"`)) {
			l.of.once.Do(func() {
				err = registry.ErrUnavailable
				l.of.failed()
			})
		}
	}
	if err != nil {
		return err
	}
	return l.WriteTx.Put(table, documents)
}

// A job whose result was lost is repeated without writing: it does not undo what was changed since, and reports what
// it has done.
func TestRepeatedJob(t *testing.T) {
	const name = "urn:x:a"
	for _, c := range []struct {
		name   string
		upload jobs.Upload
	}{
		{"an import", jobs.Upload{
			Format: bulk.NDJSON, Overwrite: true,
			Body: strings.NewReader(`{"name":"` + name + `","targets":["https://job.example/1"]}`),
		}},
		{"a rewrite", jobs.Upload{
			Format: jobs.Rewrite,
			Body:   strings.NewReader(`{"replace":"https://old.example/","with":"https://job.example/"}`),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			store := openStore(t, dir)
			ctx, cancel := context.WithCancel(t.Context())
			j, r := newJobs(lostResult{store, new(sync.Once), cancel}, dir, io.Discard)
			put := func(uri string) {
				if _, err := r.Apply(t.Context(), root, registry.Edit{
					Key: registry.Name(name), IfVersion: registry.AnyVersion,
					Change: registry.Put(registry.Record{Targets: []registry.Target{{URI: uri}}}),
				}); err != nil {
					t.Fatal(err)
				}
			}
			put("https://old.example/1")
			job, _, err := j.Accept(t.Context(), root, c.upload)
			if err != nil {
				t.Fatal(err)
			}
			j.Run(ctx)
			if e, err := r.Get(t.Context(), registry.Name(name)); err != nil || e.Version != 2 {
				t.Fatalf("the job wrote %+v, %v", e, err)
			}
			const since = "https://old.example/2"
			put(since)
			running(t, j)
			job = await(t, j, job.ID, jobs.Done)
			if e, err := r.Get(t.Context(), registry.Name(name)); err != nil || e.Targets[0].URI != since {
				t.Errorf("what was changed since is %+v, %v", e, err)
			}
			if job.Report.Changed != 1 || job.Report.Rejected != 0 {
				t.Errorf("the report is %+v", job.Report)
			}
			if err := store.Read(t.Context(), func(tx registry.Tx) error {
				left, err := tx.Documents(registry.TableImports, "", "", 1)
				if len(left) > 0 {
					t.Errorf("its position is still there: %s", left[0].Value)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
