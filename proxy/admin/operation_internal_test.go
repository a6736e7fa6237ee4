package admin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// noCaches are none.
type noCaches struct{ Caches }

// The document describes all operations, and no other one.
func TestDocumentOfOperations(t *testing.T) {
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(openAPI, &document); err != nil {
		t.Fatal(err)
	}
	described := make(map[string]bool)
	for path, methods := range document.Paths {
		for method := range methods {
			if method != "parameters" {
				described[strings.ToUpper(method)+" "+path] = true
			}
		}
	}
	h := New(Config{Metrics: http.NotFoundHandler(), Caches: noCaches{}})
	for _, o := range h.operations {
		if o.page != nil { // it is for people
			continue
		}
		if key := o.method + " " + o.path; !described[key] {
			t.Errorf("%s is an operation, and not in the document", key)
		} else {
			delete(described, key)
		}
	}
	if len(described) > 0 {
		t.Errorf("%v are in the document, and no operations", described)
	}
}

func TestOperationOf(t *testing.T) {
	h := New(Config{Metrics: http.NotFoundHandler(), Caches: noCaches{}})
	for _, tt := range []struct{ method, path, want, id string }{
		{"GET", "/", "/", ""},
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
		found, id, err := h.operationOf(r)
		if (err == nil) != (tt.want != "") || found != nil && (found.path != tt.want || id != tt.id) {
			t.Errorf("%s %s: %+v, %q, %v", tt.method, tt.path, found, id, err)
		}
	}
}
