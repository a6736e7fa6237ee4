package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// rejectedLines returns the file of rejected lines of a job.
func rejectedLines(t *testing.T, j *jobs.Jobs, id string) string {
	t.Helper()
	f, err := j.Rejected(t.Context(), root, id)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A line that has a warning and is rejected afterwards is reported with both, and its conflict can be resolved.
func TestWarningAndConflict(t *testing.T) {
	dir := t.TempDir()
	same := func(text string) (string, error) { return text, nil }
	j := jobs.New(jobs.Config{
		Registry: registry.New(registry.Config{
			Store: openStore(t, dir), Canonical: same, CanonicalPrefix: same, Now: time.Now,
			Warning: func(string) error { return errors.New("wrong check digit") },
		}),
		Directory: filepath.Join(dir, "jobs"), MaxBody: maxBody, Log: slog.New(slog.DiscardHandler),
	})
	running(t, j)
	await(t, j, accept(t, j, root, "", `{"name":"urn:x:a","targets":["https://a.example/1"]}`).ID, jobs.Done)
	job := await(t, j, accept(t, j, root, "", `{"name":"urn:x:a","targets":["https://a.example/2"]}`).ID, jobs.Done)
	text := rejectedLines(t, j, job.ID)
	if !strings.Contains(text, "wrong check digit") || !strings.Contains(text, "has version 1") ||
		len(job.Rejections) != 2 || job.Report.Rejected != 1 {
		t.Errorf("rejected were %s, %+v", text, job)
	}
	if all, _, err := j.Conflicts(t.Context(), root, job.ID, 0, 10); len(all) != 1 || err != nil {
		t.Errorf("the conflicts are %+v, %v", all, err)
	}
}

// secondWrite is a store whose first Write after a Bulk waits, once an import has written a transaction.
type secondWrite struct {
	registry.Store
	bulk     sync.Once
	written  chan struct{} // closed by the first Bulk
	reached  chan struct{} // closed by the first Write after it
	released chan struct{} // until this is closed, that Write waits
	once     sync.Once
}

func (s *secondWrite) Bulk(ctx context.Context, f func(registry.WriteTx) error) error {
	err := s.Store.Bulk(ctx, f)
	s.bulk.Do(func() { close(s.written) })
	return err
}

func (s *secondWrite) Write(ctx context.Context, f func(registry.WriteTx) error) error {
	select {
	case <-s.written:
		s.once.Do(func() {
			close(s.reached)
			<-s.released
		})
	default:
	}
	return s.Store.Write(ctx, f)
}

// Rejections of a transaction are in the file before the next one: after a crash the import continues behind it.
func TestRejectionsAreFlushed(t *testing.T) {
	dir := t.TempDir()
	store := &secondWrite{
		Store: openStore(t, dir), written: make(chan struct{}), reached: make(chan struct{}),
		released: make(chan struct{}),
	}
	j, r := newJobs(store, dir, io.Discard)
	if _, err := r.Apply(t.Context(), root, registry.Edit{
		Key: registry.Name("urn:x:100"), IfVersion: registry.AnyVersion,
		Change: registry.Put(registry.Record{Targets: []registry.Target{{URI: "https://b.example/"}}}),
	}); err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	for i := range 150 { // the first transaction has 100 names
		fmt.Fprintf(&body, `{"name":"urn:x:%d","targets":["https://a.example/"]}`+"\n", 100+i)
	}
	job := accept(t, j, root, "", body.String())
	running(t, j)
	<-store.reached
	text := rejectedLines(t, j, job.ID)
	conflicts, _, err := j.Conflicts(t.Context(), root, job.ID, 0, 10)
	close(store.released)
	if !strings.Contains(text, "has version 1") || len(conflicts) != 1 || err != nil {
		t.Errorf("rejected were %q, the conflicts %+v, %v", text, conflicts, err)
	}
	await(t, j, job.ID, jobs.Done)
}

// The conflicts of a rewrite that continues follow those before its interruption.
func TestConflictsOfContinuedRewrite(t *testing.T) {
	dir := t.TempDir()
	j, r := newJobs(openStore(t, dir), dir, io.Discard)
	put := func(uri string) {
		if _, err := r.Apply(t.Context(), root, registry.Edit{
			Key: registry.Name("urn:x:a"), IfVersion: registry.AnyVersion,
			Change: registry.Put(registry.Record{Targets: []registry.Target{{URI: uri}}}),
		}); err != nil {
			t.Fatal(err)
		}
	}
	put("https://a.example/1")
	put("https://a.example/2")
	e, err := r.Get(t.Context(), registry.Name("urn:x:a"))
	if err != nil {
		t.Fatal(err)
	}
	reason := fmt.Sprintf("conflict: changed since, by root at %s", e.Changed.Format("2006-01-02 15:04:05"))
	job, _, err := j.Accept(t.Context(), root, jobs.Upload{Format: jobs.Rewrite, Body: strings.NewReader(
		`{"replace":"https://a.example/","with":"https://b.example/","as_of":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprintf(`{"line":1,"reason":%q,"input":"urn:w:b"}`+"\n", reason)
	path := filepath.Join(dir, "jobs", "administrators", job.ID+".rejected")
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	running(t, j)
	job = await(t, j, job.ID, jobs.Done)
	if text := rejectedLines(t, j, job.ID); !strings.Contains(text, `"line":2`) || !strings.Contains(text, "urn:x:a") {
		t.Errorf("rejected were %s", text)
	}
}
