package api

import (
	"net/http"
	"strings"
	"testing"
)

// noCaches has no caches.
type noCaches struct{ Caches }

// The operations are those of the document, and each has an action.
func TestOperationsOf(t *testing.T) {
	nothing := map[string]action{"a": {}, "b": {}}
	for document, want := range map[string]string{
		`{"paths": {"/a": {"get": {"operationId": "a"}, "put": {"operationId": "b"}}}}`: "",
		`{"paths": {"/a": {"get": {"operationId": "a"}, "put": {"operationId": "c"}}}}`: "c has no action",
		`{"paths": {"/a": {"get": {"operationId": "a"}}}}`:                              "1 operations, 2 actions",
		`[]`: "reading the OpenAPI document",
	} {
		all, err := operationsOf([]byte(document), nothing)
		if want == "" && (err != nil || len(all) != 2) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %d, %v; want %q", document, len(all), err, want)
		}
	}
	for i, o := range New(Config{Metrics: http.NotFoundHandler(), Caches: noCaches{}}).operations {
		switch {
		case (o.serve == nil) == (o.handler == nil):
			t.Errorf("%s %s is answered by nothing, or by two", o.method, o.path)
		case o.registry != (o.use != 0):
			t.Errorf("%d %s %s takes tokens of the registry: %t, and its use is %v", i, o.method, o.path,
				o.registry, o.use)
		}
	}
}

func TestOperationOf(t *testing.T) {
	a := New(Config{Metrics: http.NotFoundHandler(), Caches: noCaches{}})
	for _, tt := range []struct{ method, path, want, id string }{
		{"GET", "/", "", ""},
		{"HEAD", "/healthz", "/healthz", ""},
		{"GET", "/healthz/", "", ""},
		{"POST", "/healthz", "", ""},
		{"GET", "/debug/pprof/", "/debug/pprof/", ""},
		{"GET", "/debug/pprof/heap", "/debug/pprof/", ""},
		{"GET", "/debug/pprof/profile", "/debug/pprof/profile", ""},
		{"GET", "/debug/pprof", "", ""},
		{"DELETE", "/api/v1/responses", "/api/v1/responses", ""},
		{"GET", "/api/v1/jobs/7", "/api/v1/jobs/{id}", "7"},
		{"GET", "/api/v1/jobs/7/rejected", "/api/v1/jobs/{id}/rejected", "7"},
		{"GET", "/api/v1/jobs/7/8/rejected", "", ""},
		{"GET", "/api/v1/jobs/", "", ""},
		{"GET", "//api/v1/names", "", ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, "http://a"+tt.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		found, id, err := a.find(r)
		if (err == nil) != (tt.want != "") || found != nil && (found.path != tt.want || id != tt.id) {
			t.Errorf("%s %s: %+v, %q, %v", tt.method, tt.path, found, id, err)
		}
	}
}
