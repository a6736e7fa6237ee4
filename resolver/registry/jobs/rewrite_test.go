package jobs_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// A job rewrites targets of the names that its token may change; a dry run reports them.
func TestRewriteJob(t *testing.T) {
	dir := t.TempDir()
	store := openStore(t, dir)
	j, r := newJobs(store, dir, io.Discard)
	running(t, j)
	await(t, j, accept(t, j, root, "", lines(20)).ID, jobs.Done)
	writer := writer
	writer.Token = "" // without a token, which would be verified
	key := registry.Name("urn:x:1")
	before, err := r.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	old := before.Targets[0].URI[:len("https://")]
	send := func(actor registry.Actor, body string, dry bool) (jobs.Job, error) {
		job, _, err := j.Accept(t.Context(), actor,
			jobs.Upload{Format: jobs.Rewrite, DryRun: dry, Note: "moved", Body: strings.NewReader(body)})
		return job, err
	}
	body := `{"prefix":"urn:x:","replace":"` + old + `","with":"https://new.example/"}`
	for _, c := range []struct {
		body string
		want error
	}{
		{`{"prefix":"urn:y:","replace":"a","with":"b"}`, registry.ErrDenied},
		{`{"prefix":"urn:x:","replace":"a"}`, registry.ErrInvalid},
		{`{"prefix":"urn:x:","replace":"a","with":"b","more":1}`, registry.ErrInvalid},
		{`x`, registry.ErrInvalid},
		{`"` + strings.Repeat("x", 100_000) + `"`, jobs.ErrTooLarge},
	} {
		if _, err := send(writer, c.body, false); !errors.Is(err, c.want) {
			t.Errorf("%.100s: %v, want %v", c.body, err, c.want)
		}
	}
	dry, err := send(writer, body, true)
	if err != nil {
		t.Fatal(err)
	}
	dry = await(t, j, dry.ID, jobs.Done)
	if dry.Differences == nil || dry.Differences.Changed != 18 {
		t.Errorf("the dry run says %+v", dry)
	}
	f, err := j.Differences(t.Context(), writer, dry.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if n := strings.Count(string(text), "\n"); err != nil || n != 19 ||
		!strings.Contains(string(text), `"after":"https://new.example/`) {
		t.Errorf("%d lines, %v\n%s", n, err, text)
	}
	if _, err := j.Differences(t.Context(), other, dry.ID); !errors.Is(err, registry.ErrUnknownJob) {
		t.Errorf("somebody else reads the differences: %v", err)
	}
	job, err := send(writer, body, false)
	if err != nil {
		t.Fatal(err)
	}
	job = await(t, j, job.ID, jobs.Done)
	if job.Report.Changed != 18 || job.Format != bulk.Format("rewrite") {
		t.Errorf("the job says %+v", job)
	}
	after, err := r.Get(t.Context(), key)
	if err != nil || !strings.HasPrefix(after.Targets[0].URI, "https://new.example/") || after.Note != "moved" ||
		after.By != writer.Name {
		t.Errorf("%+v, %v", after, err)
	}
	if _, err := j.Differences(t.Context(), writer, job.ID); !errors.Is(err, jobs.ErrOtherInstance) {
		t.Errorf("the differences of a job that is not a dry run: %v", err)
	}
}

// A job moves all targets, even if an earlier rewrite with the same parameters was interrupted and never continued.
func TestRewriteAfterInterruption(t *testing.T) {
	dir := t.TempDir()
	j, r := newJobs(openStore(t, dir), dir, io.Discard)
	put := func(name string) {
		if _, err := r.Apply(t.Context(), root, registry.Edit{
			Key: registry.Name(name), IfVersion: registry.AnyVersion,
			Change: registry.Put(registry.Record{Targets: []registry.Target{{URI: "https://a.example/"}}}),
		}); err != nil {
			t.Fatal(err)
		}
	}
	put("urn:x:b")
	put("urn:x:c")
	ctx, cancel := context.WithCancel(t.Context())
	w := registry.Rewrite{
		Replace: "https://a.example/", With: "https://b.example/", Transaction: 1,
		Rewritten: func(registry.Changed) { cancel() },
	}
	if _, err := r.Rewrite(ctx, root, w); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	put("urn:x:a") // before the position of the interrupted rewrite
	job, _, err := j.Accept(t.Context(), root, jobs.Upload{
		Format: jobs.Rewrite, Note: "again",
		Body: strings.NewReader(`{"replace":"https://a.example/","with":"https://b.example/"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	running(t, j)
	if job = await(t, j, job.ID, jobs.Done); job.Report.Changed != 2 || job.Report.Continued {
		t.Errorf("%+v", job.Report)
	}
	if e, err := r.Get(t.Context(), registry.Name("urn:x:a")); err != nil ||
		e.Targets[0].URI != "https://b.example/" || e.Note != "again" {
		t.Errorf("%+v, %v", e, err)
	}
}
