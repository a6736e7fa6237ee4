package admin_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// fakeJobs has one job, or an error.
type fakeJobs struct {
	err    error
	upload jobs.Upload
	body   string
	file   string
}

func (f *fakeJobs) Accept(_ context.Context, _ registry.Actor, u jobs.Upload) (jobs.Job, bool, error) {
	octets := make([]byte, 100)
	n, _ := u.Body.Read(octets)
	f.upload, f.body = u, string(octets[:n])
	return jobs.Job{ID: "1"}, true, f.err
}

func (f *fakeJobs) Get(context.Context, registry.Actor, string) (jobs.Job, error) {
	return jobs.Job{ID: "1"}, f.err
}

func (f *fakeJobs) List(context.Context, registry.Actor) ([]jobs.Job, error) {
	return []jobs.Job{{ID: "1"}}, f.err
}

func (f *fakeJobs) Cancel(context.Context, registry.Actor, string) (jobs.Job, error) {
	return jobs.Job{ID: "1"}, f.err
}

func (f *fakeJobs) Rejected(context.Context, registry.Actor, string) (*os.File, error) {
	if f.err != nil {
		return nil, f.err
	}
	return os.Open(f.file)
}

func (f *fakeJobs) Differences(context.Context, registry.Actor, string) (*os.File, error) {
	if f.err != nil {
		return nil, f.err
	}
	return os.Open(f.file)
}

const jobsPath = "/api/v1/jobs"

func TestJobsByHTTP(t *testing.T) {
	fake := &fakeJobs{file: t.TempDir() + "/rejected"}
	if err := os.WriteFile(fake.file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(c *admin.Config) { locked(c); c.Registry.Jobs = fake })
	reader, writer := s.token(t, registry.Reader), s.token(t, registry.Writer, "urn:nbn:fi:")
	for _, tt := range []struct {
		request, kind string
		fields        []string
		status        int
		format        bulk.Format
	}{
		{"POST " + jobsPath, "text/csv", nil, 202, bulk.CSV},
		{"POST " + jobsPath + "?dry_run=true&note=n", "text/csv; charset=utf-8", nil, 202, bulk.CSV},
		{"POST " + jobsPath + "?encoding=latin1", "text/csv", nil, 202, bulk.CSV},
		{"POST " + jobsPath, "application/x-ndjson", []string{"Idempotency-Key: k"}, 202, bulk.NDJSON},
		{"POST " + jobsPath, "application/ndjson", nil, 202, bulk.NDJSON},
		{"POST " + jobsPath, "text/tab-separated-values", nil, 202, bulk.TSV},
		{"POST " + jobsPath, "application/json", nil, 202, jobs.Rewrite},
		{"POST " + jobsPath, "application/xml", nil, 415, ""},
		{"POST " + jobsPath, "", nil, 415, ""},
		{"POST " + jobsPath, "text/csv", []string{"Content-Encoding: gzip"}, 415, ""},
		{"POST " + jobsPath + "?dry_run=yes", "text/csv", nil, 400, ""},
		{"POST " + jobsPath + "?format=csv", "text/csv", nil, 400, ""},
		{"POST " + jobsPath, "text/csv", []string{reader}, 403, ""},
		{"PUT " + jobsPath, "text/csv", nil, 405, ""},
		{"DELETE " + jobsPath, "text/csv", nil, 405, ""},
		{"GET " + jobsPath, "", nil, 200, ""},
		{"GET " + jobsPath, "", []string{reader}, 200, ""},
		{"GET " + jobsPath + "/1", "", []string{reader}, 200, ""},
		{"GET " + jobsPath + "/1/rejected", "", []string{reader}, 200, ""},
		{"DELETE " + jobsPath + "/1", "", nil, 202, ""},
		{"DELETE " + jobsPath + "/1", "", []string{reader}, 403, ""},
		{"GET " + jobsPath + "/1/2", "", nil, 404, ""},
		{"GET " + jobsPath + "/", "", nil, 404, ""},
	} {
		fake.upload = jobs.Upload{}
		r := s.ask(tt.request, "name,target\n", append([]string{writer, "Content-Type: " + tt.kind}, tt.fields...)...)
		if r.status != tt.status || fake.upload.Format != tt.format {
			t.Errorf("%s as %q %q: %d %q %s", tt.request, tt.kind, tt.fields, r.status, fake.upload.Format, r.body)
		}
		if tt.format != "" && (r.header.Get("Location") != jobsPath+"/1" || fake.body != "name,target\n" || fake.upload.DryRun != strings.Contains(tt.request, "dry_run=true") ||
			fake.upload.Encoding != "" != strings.Contains(tt.request, "encoding=latin1")) {
			t.Errorf("%s: %v, %+v", tt.request, r.header, fake.upload)
		}
	}
}

// The errors of jobs, and what clients get.
func TestErrorsOfJobs(t *testing.T) {
	for err, status := range map[error]int{
		jobs.ErrUnknown: 404, jobs.ErrElsewhere: 404, jobs.ErrLarge: 413, jobs.ErrReused: 422, jobs.ErrWaiting: 503, jobs.ErrCompressed: 415, jobs.ErrEnded: 409,
		registry.ErrNoStore: 503, registry.ErrDenied: 403, registry.ErrInvalid: 422, errBug: 500,
	} {
		s := newSite(t, func(c *admin.Config) { c.Registry.Jobs = &fakeJobs{err: fmt.Errorf("a job: %w", err)} })
		for _, request := range []string{"POST " + jobsPath, "GET " + jobsPath + "/1", "DELETE " + jobsPath + "/1", "GET " + jobsPath + "/1/rejected"} {
			r := s.ask(request, "x", "Content-Type: text/csv")
			if r.status != status {
				t.Errorf("%v, %s: %d %s", err, request, r.status, r.body)
			}
			if said := err.Error(); strings.Count(r.body, strings.TrimPrefix(said, "the ")) > 1 {
				t.Errorf("it is said twice: %s", r.body)
			}
		}
	}
}

func TestWithoutJobs(t *testing.T) {
	s := newSite(t, nil)
	for _, request := range []string{
		"POST " + jobsPath, "GET " + jobsPath, "GET " + jobsPath + "/1", "DELETE " + jobsPath + "/1",
		"GET " + jobsPath + "/1/rejected",
	} {
		if r := s.ask(request, "x", "Content-Type: text/csv"); r.status != http.StatusNotImplemented {
			t.Errorf("%s: %d %s", request, r.status, r.body)
		}
	}
}
