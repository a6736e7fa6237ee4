package bulk

import (
	"bufio"
	"encoding/json"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// ndjsonExport writes a JSON object a line, with the members of the documents of the API.
type ndjsonExport struct {
	history bool
	encoder *json.Encoder
}

// document is a line.
type document struct {
	Name          string           `json:"name"`
	Prefix        bool             `json:"prefix,omitempty"`
	Version       int              `json:"version,omitempty"`
	IfVersion     int              `json:"if_version,omitempty"`
	Status        registry.Status  `json:"status"`
	Since         time.Time        `json:"since,omitzero"`
	Reason        string           `json:"reason,omitempty"`
	Successors    []string         `json:"successors,omitempty"`
	Alias         string           `json:"alias,omitempty"`
	Targets       []documentTarget `json:"targets,omitempty"`
	Metadata      json.RawMessage  `json:"metadata,omitempty"`
	Contact       string           `json:"contact,omitempty"`
	Redirect      int              `json:"redirect,omitempty"`
	Pattern       string           `json:"pattern,omitempty"`
	Authoritative bool             `json:"authoritative,omitempty"`
	Sandbox       bool             `json:"sandbox,omitempty"`
	Changed       time.Time        `json:"changed,omitzero"`
	By            string           `json:"by,omitempty"`
	Note          string           `json:"note,omitempty"`
}

type documentTarget struct {
	URI      string    `json:"uri"`
	Type     string    `json:"type,omitempty"`
	Language string    `json:"language,omitempty"`
	Priority int       `json:"priority,omitempty"`
	From     time.Time `json:"from,omitzero"`
	Until    time.Time `json:"until,omitzero"`
	Note     string    `json:"note,omitempty"`
	Rel      string    `json:"rel,omitempty"`
	Title    string    `json:"title,omitempty"`
	Context  string    `json:"context,omitempty"`
}

func (x *ndjsonExport) begin(w *bufio.Writer, _ *entries) error {
	x.encoder = json.NewEncoder(w)
	x.encoder.SetEscapeHTML(false)
	return nil
}

func (x *ndjsonExport) entry(_ *bufio.Writer, e *registry.Entry) error {
	d := document{
		Name: e.Name, Prefix: e.Kind == registry.KindPrefix, Status: e.Status, Since: e.Since, Reason: e.Reason,
		Successors: e.Successors, Alias: e.Alias, Metadata: json.RawMessage(e.Metadata), Contact: e.Contact,
		Redirect: e.Redirect, Pattern: e.Pattern, Authoritative: e.Authoritative, Sandbox: e.Sandbox, Changed: e.Changed, By: e.By, Note: e.Note,
	}
	if x.history {
		d.Version = e.Version
	} else {
		d.IfVersion = e.Version
	}
	for _, t := range e.Targets {
		d.Targets = append(d.Targets, documentTarget(t))
	}
	if err := x.encoder.Encode(d); err != nil {
		return fmt.Errorf("writing %s: %w", e.Key, err)
	}
	return nil
}

func (x *ndjsonExport) end(*bufio.Writer) error { return nil }
