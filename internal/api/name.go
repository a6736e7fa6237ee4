package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Name is one version of what the registry has of a name or prefix. What is read of it by Record
// makes an equal record, so that it can be edited and given back.
type Name struct {
	Name   string          `json:"name"`
	Prefix bool            `json:"prefix,omitempty"` // it is what names begin with
	Status registry.Status `json:"status"`           // active where it is missing
	Since  time.Time       `json:"since,omitzero"`   // since when it has the status; not read

	// Those of a withdrawn name.
	Reason     string   `json:"reason,omitempty"`
	Successors []string `json:"successors,omitempty"`

	Alias         string          `json:"alias,omitempty"` // the name that it is another name of
	Targets       []NameTarget    `json:"targets"`         // in their order
	Metadata      json.RawMessage `json:"metadata,omitempty"`
	Contact       string          `json:"contact,omitempty"`
	Redirect      int             `json:"redirect,omitempty"`      // the status of redirects to the targets
	Pattern       string          `json:"pattern,omitempty"`       // of prefixes: a regular expression of what follows
	Authoritative bool            `json:"authoritative,omitempty"` // of prefixes
	Sandbox       bool            `json:"sandbox,omitempty"`

	// Those of the version, which are not read but for Note.
	Version int          `json:"version,omitempty"`
	Seq     registry.Seq `json:"seq,omitempty"` // among the versions of all names
	Changed time.Time    `json:"changed,omitzero"`
	By      string       `json:"by,omitempty"`
	Note    string       `json:"note,omitempty"`
	// Redacted says that the targets, metadata and contact of the version were removed.
	Redacted bool `json:"redacted,omitempty"`
	// Warning says after a change what is doubtful in the name, such as a wrong check digit.
	Warning string `json:"warning,omitempty"`
}

// NameTarget is one target of a Name.
type NameTarget struct {
	URI      string    `json:"uri"`
	Type     string    `json:"type,omitempty"`
	Language string    `json:"language,omitempty"`
	Priority int       `json:"priority,omitempty"` // the least is first
	From     time.Time `json:"from,omitzero"`
	Until    time.Time `json:"until,omitzero"` // when it is not valid any more
	Note     string    `json:"note,omitempty"`
	Rel      string    `json:"rel,omitempty"`     // the relation to what is named
	Title    string    `json:"title,omitempty"`   // for people
	Context  string    `json:"context,omitempty"` // for whom it is, typically a country
}

// NewName returns the document of an entry.
func NewName(e registry.Entry) Name {
	n := Name{
		Name: e.Name, Prefix: e.Kind == registry.KindPrefix, Status: e.Status, Since: e.Since,
		Reason: e.Reason, Successors: e.Successors, Alias: e.Alias, Targets: make([]NameTarget, len(e.Targets)),
		Contact: e.Contact, Redirect: e.Redirect, Pattern: e.Pattern, Authoritative: e.Authoritative, Sandbox: e.Sandbox,
		Version: e.Version, Seq: e.Seq, Changed: e.Changed, By: e.By, Note: e.Note, Redacted: e.Redacted,
	}
	for i, t := range e.Targets {
		n.Targets[i] = NameTarget(t)
	}
	if e.Metadata != "" {
		n.Metadata = json.RawMessage(e.Metadata)
	}
	return n
}

// NewNames returns the documents of entries, never nil.
func NewNames(entries []registry.Entry) []Name {
	names := make([]Name, len(entries))
	for i, e := range entries {
		names[i] = NewName(e)
	}
	return names
}

// ReadName reads one document. Its errors wrap registry.ErrInvalid: a member that there is none of
// is one, since it may be a mistyped one. The caller bounds the text.
func ReadName(text []byte) (Name, error) {
	if err := registry.UniqueMembers(text); err != nil {
		return Name{}, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var n Name
	err := d.Decode(&n)
	if err == nil && !errors.Is(d.Decode(&struct{}{}), io.EOF) {
		err = errors.New("there is more after the JSON object")
	}
	if err != nil {
		return Name{}, fmt.Errorf("%w: reading the document of a name: %w", registry.ErrInvalid, FaultOfJSON(err))
	}
	return n, nil
}

// FaultOfJSON returns an error of decoding in words about the document, and not about types of Go.
func FaultOfJSON(err error) error {
	var fault *json.UnmarshalTypeError
	if errors.As(err, &fault) {
		what := fault.Field
		if what == "" {
			what = "the document"
		}
		return fmt.Errorf("%s: %s stands where there should be %s", what, fault.Value, kindInJSON(fault.Type.Kind()))
	}
	if text, ok := strings.CutPrefix(err.Error(), "json: "); ok {
		return errors.New(text)
	}
	return err
}

// kindInJSON names what is decoded into a kind.
func kindInJSON(kind reflect.Kind) string {
	switch kind {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	default:
		return "a number"
	}
}

// Key returns the key that the document is of.
func (n Name) Key() registry.Key {
	if n.Prefix {
		return registry.Prefix(n.Name)
	}
	return registry.Name(n.Name)
}

// Record returns the record of the document, without what the registry sets. The error wraps
// registry.ErrInvalid.
func (n Name) Record() (registry.Record, error) {
	record := registry.Record{
		Status: n.Status, Reason: n.Reason, Successors: n.Successors, Alias: n.Alias,
		Contact: n.Contact, Redirect: n.Redirect, Pattern: n.Pattern, Authoritative: n.Authoritative, Sandbox: n.Sandbox,
	}
	for _, t := range n.Targets {
		t.From, t.Until = stored(t.From), stored(t.Until)
		record.Targets = append(record.Targets, registry.Target(t))
	}
	if len(n.Metadata) == 0 || string(n.Metadata) == "null" {
		return record, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, n.Metadata); err != nil {
		return registry.Record{}, fmt.Errorf("%w: the metadata: %w", registry.ErrInvalid, err)
	}
	record.Metadata = compact.String()
	return record, nil
}

// stored returns a time as stores hold it.
func stored(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}
