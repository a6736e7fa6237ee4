package message

import (
	"net/http"

	"github.com/urnd/urnd/resolver"
)

// fieldSandbox marks replies about names for trial, which may be removed: a boolean of RFC 9651.
const fieldSandbox = "Urnd-Sandbox"

// WithRecord returns the reply with the header fields for the record of its name, which may be nil:
// what came instead of a withdrawn one (RFC 5829 section 3.3), and whether it is for trial.
func (r Reply) WithRecord(record *resolver.Record) Reply {
	if record == nil || !record.Sandbox && len(record.Successors) == 0 {
		return r
	}
	if r.Header == nil {
		r.Header = make(http.Header)
	}
	if record.Sandbox {
		r.Header[fieldSandbox] = []string{"?1"}
	}
	for _, successor := range record.Successors {
		r.Header["Link"] = append(r.Header["Link"], "<"+successor+`>; rel="successor-version"`)
	}
	return r
}
