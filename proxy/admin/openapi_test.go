package admin_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver/registry/field"
)

// The document names the server by a relative URL, relative to the document (OpenAPI 3.1 section 4.8.5).
func TestServerOfOpenAPI(t *testing.T) {
	document := text(t, adminRequest(newAdminHandler(&fakeCaches{}, nil), "127.0.0.1:1", "GET /openapi.json"))
	var d struct{ Servers []struct{ URL string } }
	if err := json.Unmarshal([]byte(document), &d); err != nil || len(d.Servers) != 1 {
		t.Fatalf("%v, %+v", err, d)
	}
	at, err := url.Parse("http://127.0.0.1:8142/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if server, err := at.Parse(d.Servers[0].URL); err != nil || server.Host != at.Host || server.Scheme != at.Scheme ||
		server.Path != "/" {
		t.Errorf("the document names %s, %v", server, err)
	}
}

// schema is an object of the OpenAPI document.
type schema struct {
	Required   []string
	Properties map[string]struct {
		Type, Format, Description string
		ReadOnly                  bool
	}
}

// The schemas of names and targets have the fields of the field tables.
func TestSchemasOfFields(t *testing.T) {
	document := text(t, adminRequest(newAdminHandler(&fakeCaches{}, nil), "127.0.0.1:1", "GET /openapi.json"))
	var d struct {
		Components struct{ Schemas struct{ Name, Target schema } }
	}
	if err := json.Unmarshal([]byte(document), &d); err != nil {
		t.Fatal(err)
	}
	testSchema(t, "Name", d.Components.Schemas.Name, field.RecordFields(), api.NameMembers())
	var members []string
	for _, f := range field.TargetFields() {
		members = append(members, f.Name)
	}
	testSchema(t, "Target", d.Components.Schemas.Target, field.TargetFields(), members)
}

func testSchema[T any](t *testing.T, name string, s schema, fields field.Fields[T], members []string) {
	t.Helper()
	types := map[field.Type]string{
		field.Text: "string", field.Word: "string", field.URI: "string", field.Time: "string date-time",
		field.Number: "integer", field.Bool: "boolean", field.Status: "string", field.List: "array",
		field.JSON: "object", field.Targets: "array",
	}
	for _, f := range fields {
		p, ok := s.Properties[f.Name]
		if got := strings.TrimSpace(p.Type + " " + p.Format); !ok || got != types[f.Type] || p.Description != f.Doc ||
			p.ReadOnly != f.ReadOnly {
			t.Errorf("the schema %s in openapi.json has as %s: %+v; want %s, with the description %q", name, f.Name, p,
				types[f.Type], f.Doc)
		}
		if slices.Contains(s.Required, f.Name) != f.Required {
			t.Errorf("the schema %s requires %v, and the table says that %s is required: %t", name, s.Required, f.Name,
				f.Required)
		}
	}
	for member := range s.Properties {
		if !slices.Contains(members, member) {
			t.Errorf("the schema %s in openapi.json has a member %s that documents do not have", name, member)
		}
	}
}
