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

// Name is one version of what the registry has of a name or prefix, so that it can be edited and given back. The
// members of Record are those of the table of package field; its Since is not used of what is given back, and of
// NameVersion only the note is.
type Name struct {
	NameKey
	registry.Record
	NameVersion
}

// NameKey is the key of a Name.
type NameKey struct {
	Name   string `json:"name"`
	Prefix bool   `json:"prefix,omitempty"` // it is what names begin with
}

// NameVersion is what a Name says of the version.
type NameVersion struct {
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
	b, err := field.OfRecord().AppendMembers(append(key[:len(key)-1], ','), &n.Record)
	if len(version) > len("{}") {
		b = append(b, ',')
	}
	return append(b, version[1:]...), err
}

// UnmarshalJSON implements json.Unmarshaler. A member that there is none of is an error, since it may be a mistyped
// one; all others are set. What the text does not say stays as it is.
func (n *Name) UnmarshalJSON(text []byte) error {
	members, err := field.ParseMembers(text)
	others := make([]byte, 0, len(text))
	for _, m := range members {
		ok, failed := field.OfRecord().SetMember(&n.Record, m.Name, m.Value)
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
		wrong.Field = wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:] // without the type that is embedded
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

// ReadName reads one document. Its errors wrap registry.ErrInvalid: a member that there is none of
// is one, since it may be a mistyped one. The caller bounds the text.
func ReadName(text []byte) (Name, error) {
	if err := registry.UniqueMembers(text); err != nil {
		return Name{}, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
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
func (n *NameKey) Key() registry.Key {
	if n.Prefix {
		return registry.Prefix(n.Name)
	}
	return registry.Name(n.Name)
}

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
