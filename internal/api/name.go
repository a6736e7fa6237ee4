package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// Name is a version of a name or prefix in the registry, in a form that can be edited and sent back. The
// members of Record are defined by the table of package field. When it is sent back, Since is ignored, and of
// NameVersion only Note is used.
type Name struct {
	NameKey
	registry.Record
	NameVersion
}

// NameKey is the key of a Name.
type NameKey struct {
	Name   string `json:"name"`
	Prefix bool   `json:"prefix,omitempty"` // Name is a prefix of names
}

// NameVersion describes the version of a Name.
type NameVersion struct {
	Version int          `json:"version,omitempty"`
	Seq     registry.Seq `json:"seq,omitempty"` // sequence number among the versions of all names
	Changed time.Time    `json:"changed,omitzero"`
	By      string       `json:"by,omitempty"`
	Note    string       `json:"note,omitempty"`
	// Redacted is set if the targets, metadata and contact of the version were removed.
	Redacted bool `json:"redacted,omitempty"`
	// Warning describes, after a change, a possible mistake in the name, such as a wrong check digit.
	Warning string `json:"warning,omitempty"`
}

// NewName returns the document of an entry.
func NewName(e registry.Entry) Name {
	return Name{
		NameKey: NameKey{e.Name, e.Kind == registry.KindPrefix},
		Record:  e.Record,
		NameVersion: NameVersion{
			Version: e.Version, Seq: e.Seq, Changed: e.Changed, By: e.By, Note: e.Note, Redacted: e.Redacted,
		},
	}
}

// MarshalJSON implements json.Marshaler.
func (n Name) MarshalJSON() ([]byte, error) {
	key, err := field.Marshal(n.NameKey)
	if err != nil {
		return nil, err
	}
	version, err := field.Marshal(n.NameVersion)
	if err != nil {
		return nil, err
	}
	b, err := field.RecordFields().AppendMembers(append(key[:len(key)-1], ','), &n.Record)
	if len(version) > len("{}") {
		b = append(b, ',')
	}
	return append(b, version[1:]...), err
}

// UnmarshalJSON implements json.Unmarshaler. An unknown member is an error, because it may be mistyped; the
// other members are set nevertheless. Members that are absent keep their values.
func (n *Name) UnmarshalJSON(text []byte) error {
	members, err := field.ParseMembers(text)
	others := make([]byte, 0, len(text))
	for _, m := range members {
		ok, failed := field.RecordFields().SetMember(&n.Record, m.Name, m.Value)
		if !ok {
			others = append(append(field.AppendString(append(others, ','), m.Name), ':'), m.Value...)
		}
		err = cmp.Or(err, failed)
	}
	if len(others) == 0 {
		return err
	}
	others[0] = '{'
	d := json.NewDecoder(bytes.NewReader(append(others, '}')))
	d.DisallowUnknownFields()
	failed := d.Decode(&struct {
		*NameKey
		*NameVersion
	}{&n.NameKey, &n.NameVersion})
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](failed); ok {
		wrong.Field = wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:] // without the embedded type
	}
	return cmp.Or(err, failed)
}

// NewNames returns the documents of entries, never nil.
func NewNames(entries []registry.Entry) []Name {
	names := make([]Name, len(entries))
	for i, e := range entries {
		names[i] = NewName(e)
	}
	return names
}

// ReadName parses one document. Errors wrap registry.ErrInvalid; an unknown member is an error, because it may
// be mistyped. The caller limits the size of text.
func ReadName(text []byte) (Name, error) {
	if err := registry.UniqueMembers(text); err != nil {
		return Name{}, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var n Name
	err := d.Decode(&n)
	if err == nil && !errors.Is(d.Decode(&struct{}{}), io.EOF) {
		err = errors.New("there is data after the JSON object")
	}
	if err != nil {
		return Name{}, fmt.Errorf("%w: reading the document of a name: %w", registry.ErrInvalid, ToDocumentError(err))
	}
	return n, nil
}

// ToDocumentError converts an error of encoding/json to one that describes the document instead of Go types.
func ToDocumentError(err error) error {
	var failure *json.UnmarshalTypeError
	if errors.As(err, &failure) {
		what := failure.Field
		if what == "" {
			what = "the document"
		}
		return fmt.Errorf("%s: found %s, want %s", what, failure.Value, kindInJSON(failure.Type.Kind()))
	}
	if text, ok := strings.CutPrefix(err.Error(), "json: "); ok {
		return errors.New(text)
	}
	return err
}

// kindInJSON names the JSON value that decodes to a kind.
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

// Key returns the registry key of the document.
func (n *NameKey) Key() registry.Key {
	if n.Prefix {
		return registry.Prefix(n.Name)
	}
	return registry.Name(n.Name)
}

// Record is the part of a registry record that answers contain.
type Record struct {
	// Name of the record: the requested name, the target of its alias, or a prefix.
	Name       string          `json:"name"`
	Version    int             `json:"version"`
	Changed    string          `json:"changed"` // RFC 3339
	Status     string          `json:"status"`  // active, reserved or withdrawn
	Since      string          `json:"since"`
	Reason     string          `json:"reason,omitempty"`
	Successors []string        `json:"successors,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"` // a JSON object
	Contact    string          `json:"contact,omitempty"`
	// Status of redirects to the targets; 0 for the default of the site.
	Redirect int  `json:"redirect,omitempty"`
	Sandbox  bool `json:"sandbox,omitempty"` // for trials: may be removed
}

// NewRecord returns the document of a record, nil for nil.
func NewRecord(r *resolver.Record) *Record {
	if r == nil {
		return nil
	}
	d := &Record{
		Name: r.Name, Version: r.Version, Changed: r.Changed.UTC().Format(time.RFC3339), Status: r.Status,
		Since: r.Since.UTC().Format(time.RFC3339), Reason: r.Reason, Successors: r.Successors, Contact: r.Contact,
		Redirect: r.Redirect, Sandbox: r.Sandbox,
	}
	if r.Metadata != "" {
		d.Metadata = json.RawMessage(r.Metadata)
	}
	return d
}
