// Package apidoc makes pages for people of documents of OpenAPI 3.1: an index, and a page for each group of operations. It reads what the documents
// of urnd have, and no others: a test fails where it would leave something out.
package apidoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// document is an OpenAPI document: OpenAPI 3.1 section 4.8.1.
type document struct {
	Info struct {
		Title, Summary, Description string
	}
	Tags       []tag
	Security   []map[string][]string
	Paths      ordered[ordered[operation]]
	Components struct {
		Schemas         ordered[schema]
		SecuritySchemes ordered[struct{ Type, Scheme, Description string }]
	}
}

type tag struct{ Name, Description string }

// operation is section 4.8.10.
type operation struct {
	OperationID          string
	Summary, Description string
	Tags                 []string
	Security             *[]map[string][]string // nil is that of the document
	Parameters           []parameter
	RequestBody          *body
	Responses            ordered[body]
}

// parameter is section 4.8.12.
type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                schema
}

// body is what a request or a response has: sections 4.8.13 and 4.8.17.
type body struct {
	Description string
	Required    bool
	Headers     ordered[struct{ Description string }]
	Content     ordered[struct{ Schema schema }]
}

// schema is section 4.8.24, and JSON Schema 2020-12.
type schema struct {
	Ref         string `json:"$ref"`
	Type        any    // a text, or a list of texts
	Format      string
	Description string
	Enum        []any
	Const       any
	Default     any
	Required    []string
	Properties  ordered[schema]
	Items       *schema
	// AdditionalProperties is a schema, or a bool.
	AdditionalProperties        json.RawMessage
	OneOf, AnyOf, AllOf         []schema
	Minimum, Maximum, MaxLength json.Number
	ReadOnly                    bool
}

// ordered is an object of JSON with its members in their order.
type ordered[T any] []member[T]

type member[T any] struct {
	name  string
	value T
}

// of returns the member with a name.
func (o ordered[T]) of(name string) (T, bool) {
	for i := range o {
		if o[i].name == name {
			return o[i].value, true
		}
	}
	var none T
	return none, false
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *ordered[T]) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("an object begins with %v: %w", token, err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fmt.Errorf("a member: %w", err)
		}
		m := member[T]{name: fmt.Sprint(name)}
		if err := d.Decode(&m.value); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		*o = append(*o, m)
	}
	return nil
}

// refPrefix begins references to the schemas of a document: urnd has no others.
const refPrefix = "#/components/schemas/"

// nameOf returns the name of the schema that a reference is to, "" for none.
func nameOf(ref string) string {
	name, ok := strings.CutPrefix(ref, refPrefix)
	if !ok {
		return ""
	}
	return name
}
