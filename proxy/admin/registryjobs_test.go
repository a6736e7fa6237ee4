package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

const jobsPath = "/api/v1/jobs"

func TestJobsByHTTP(t *testing.T) {
	s, _ := newIdleJobSite(t, locked)
	reader, writer := s.token(t, registry.Reader), s.token(t, registry.Writer, "urn:nbn:fi:")
	var first jobs.Job // the job of the later requests
	for i, tt := range []struct {
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
		{"GET " + jobsPath + "/{id}", "", nil, 200, ""},
		{"GET " + jobsPath + "/{id}", "", []string{reader}, 404, ""}, // it belongs to the writer
		{"GET " + jobsPath + "/{id}/rejected", "", nil, 404, ""},     // it has not run
		{"DELETE " + jobsPath + "/{id}", "", nil, 202, ""},
		{"DELETE " + jobsPath + "/{id}", "", []string{reader}, 403, ""},
		{"GET " + jobsPath + "/1/2", "", nil, 404, ""},
		{"GET " + jobsPath + "/", "", nil, 404, ""},
	} {
		body := "name,target\n"
		if tt.kind == "application/json" {
			body = `{"prefix":"urn:nbn:fi:","replace":"http://a.example/","with":"https://a.example/"}`
		}
		r := s.ask(strings.ReplaceAll(tt.request, "{id}", first.ID), body,
			append([]string{writer, "Content-Type: " + tt.kind}, tt.fields...)...)
		var job jobs.Job
		if tt.format != "" {
			if err := json.Unmarshal([]byte(r.body), &job); err != nil {
				t.Fatalf("%s: %s: %v", tt.request, r.body, err)
			}
		}
		if i == 0 {
			first = job
		}
		if r.status != tt.status || job.Format != tt.format {
			t.Errorf("%s as %q %q: %d %q %s", tt.request, tt.kind, tt.fields, r.status, job.Format, r.body)
		}
		if tt.format != "" && (r.header.Get("Location") != jobsPath+"/"+job.ID ||
			job.DryRun != strings.Contains(tt.request, "dry_run=true") ||
			job.Encoding != "" != strings.Contains(tt.request, "encoding=latin1")) {
			t.Errorf("%s: %v, %+v", tt.request, r.header, job)
		}
	}
}

// The errors of jobs, and their statuses.
func TestErrorsOfJobs(t *testing.T) {
	for err, status := range map[error]int{
		registry.ErrUnknownJob: 404, jobs.ErrOtherInstance: 404, jobs.ErrTooLarge: 413, registry.ErrKeyReused: 422,
		registry.ErrJobLimit: 503, jobs.ErrTokenLimit: 429, jobs.ErrEnded: 409, registry.ErrJobsDisabled: 501,
		registry.ErrUnavailable: 503, registry.ErrDenied: 403, registry.ErrInvalid: 422,
		errBug: 500,
	} {
		if got := problem.Status(fmt.Errorf("a job: %w", err)); got != status {
			t.Errorf("%v: %d, want %d", err, got, status)
		}
	}
	s, _ := newIdleJobSite(t, locked)
	for _, tt := range []struct {
		body   string
		status int
		expect string
	}{
		{"name,target\n", 202, ""},
		{"name\n", 422, "Idempotency-Key already used for a different request"},
		{
			"\x1f\x8b\x08\x00", 415,
			"the media type of the content is not supported: compressed body, of unknown size: send it uncompressed",
		},
	} {
		r := s.ask("POST "+jobsPath, tt.body, admins, "Content-Type: text/csv", "Idempotency-Key: k")
		if r.status != tt.status || !strings.Contains(r.body, tt.expect) {
			t.Errorf("%q: %d %s", tt.body, r.status, r.body)
		}
	}
	var list struct{ Jobs []jobs.Job }
	if err := json.Unmarshal([]byte(s.ask("GET "+jobsPath, "", admins).body), &list); err != nil ||
		len(list.Jobs) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	path := jobsPath + "/" + list.Jobs[0].ID
	for _, tt := range []struct {
		request string
		status  int
		expect  string
	}{
		{"GET " + jobsPath + "/none", 404, "no such job"},
		{"GET " + path + "/rejected", 404, "no such job: file at another instance, or removed"},
		{"DELETE " + path, 202, `"cancelled"`},
		{"DELETE " + path, 409, "job cannot be cancelled: job already ended: job is cancelled"},
	} {
		if r := s.ask(tt.request, "", admins); r.status != tt.status || strings.Count(r.body, tt.expect) != 1 {
			t.Errorf("%s: %d %s", tt.request, r.status, r.body)
		}
	}
}

func TestWithoutJobs(t *testing.T) {
	s := newSite(t, nil)
	for _, request := range []string{
		"POST " + jobsPath, "GET " + jobsPath, "GET " + jobsPath + "/{id}", "DELETE " + jobsPath + "/{id}",
		"GET " + jobsPath + "/{id}/rejected",
	} {
		const expect = `"no directory for job bodies: start urnd with a state directory (StateDirectory of systemd) (StateDirectory of systemd, or cache.directory)"`
		if r := s.ask(request, "x", "Content-Type: text/csv"); r.status != http.StatusNotImplemented ||
			!strings.Contains(r.body, expect) {
			t.Errorf("%s: %d %s", request, r.status, r.body)
		}
	}
}
