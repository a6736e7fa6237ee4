package api

import (
	"encoding/json"
	"time"

	"github.com/urnd/urnd/resolver"
)

// Record is what answers show of the record of a name in the registry of the site.
type Record struct {
	Name       string          `json:"name"` // whose record it is: the name, what it is an alias of, or a prefix of it
	Version    int             `json:"version"`
	Changed    string          `json:"changed"` // RFC 3339
	Status     string          `json:"status"`  // active, reserved or withdrawn
	Since      string          `json:"since"`
	Reason     string          `json:"reason,omitempty"`
	Successors []string        `json:"successors,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"` // an object
	Contact    string          `json:"contact,omitempty"`
	Redirect   int             `json:"redirect,omitempty"` // the status of redirects to the targets; 0 is that of all
	Sandbox    bool            `json:"sandbox,omitempty"`  // for trial: it may be removed
}

// NewRecord returns the document of a record, nil for nil.
func NewRecord(r *resolver.Record) *Record {
	if r == nil {
		return nil
	}
	d := &Record{
		Name: r.Name, Version: r.Version, Changed: r.Changed.UTC().Format(time.RFC3339), Status: r.Status, Since: r.Since.UTC().Format(time.RFC3339),
		Reason: r.Reason, Successors: r.Successors, Contact: r.Contact, Redirect: r.Redirect, Sandbox: r.Sandbox,
	}
	if r.Metadata != "" {
		d.Metadata = json.RawMessage(r.Metadata)
	}
	return d
}
