package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// TestName checks that a document contains all of an entry, and that reading it yields the same record.
func TestName(t *testing.T) {
	e := registry.Entry{
		Key: registry.Name("urn:nbn:fi:a"), Seq: 7, Version: 2, Changed: at("2031-05-01T10:00:00.123Z"), By: "anna",
		Note: "moved",
		Record: registry.Record{
			Status: registry.Withdrawn, Since: at("2031-05-01T10:00:00.123Z"), Reason: "merged",
			Successors: []string{"urn:nbn:fi:b"},
			Targets: []registry.Target{
				{
					URI: "https://a.example/1?a&b", Type: "text/html", Language: "fi", Priority: 2,
					From: at("2030-01-01T00:00:00Z"), Until: at("2032-01-01T00:00:00Z"), Note: "old",
				},
				{URI: "https://a.example/2"},
			},
			Metadata: `{"title":"Kalevala"}`, Contact: "mailto:anna@example.org", Redirect: 301, Sandbox: true,
		},
	}
	text, err := json.Marshal(api.NewName(e))
	if err != nil {
		t.Fatal(err)
	}
	n, err := api.ReadName(text)
	if err != nil {
		t.Fatalf("reading %s: %v", text, err)
	}
	if !reflect.DeepEqual(n, api.NewName(e)) {
		t.Errorf("%s was read as\n%+v, want\n%+v", text, n, api.NewName(e))
	}
	if !reflect.DeepEqual(n.Record, e.Record) {
		t.Errorf("the record is\n%+v, want\n%+v", n.Record, e.Record)
	}
	if n.Key() != e.Key {
		t.Errorf("the key is %s", n.Key())
	}
}

func TestReadName(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"urn:x:a"}`: `{"name":"urn:x:a","status":"active","targets":[]}`,
		`{"name":"urn:x:","prefix":true,"authoritative":true,"targets":[{"uri":"https://a.example/"}]}`: `{"name":"urn:x:","prefix":true,"status":"active","targets":[{"uri":"https://a.example/"}],"authoritative":true}`,
		`{"name":"a:b","status":"RESERVED","metadata":{ "a" : [1, 2] }}`:                                `{"name":"a:b","status":"reserved","targets":[],"metadata":{"a":[1,2]}}`,
		`{"name":"a:b","metadata":null}`:                                                                `{"name":"a:b","status":"active","targets":[]}`,
		`{"name":"a:b","target":"https://a.example/"}`:                                                  "",
		`{"name":"a:b","status":"gone"}`:                                                                "",
		`{"name":"a:b"} {}`:                                                                             "",
		`{"name":"a:b"}]`:                                                                               "",
		`{"name":"a:b","targets":[{"uri":"a:","from":"31.12."}]}`:                                       "",
		`[]`: "",
		``:   "",
	} {
		n, err := api.ReadName([]byte(text))
		if want == "" {
			if !errors.Is(err, registry.ErrInvalid) {
				t.Errorf("%s: %+v, %v", text, n, err)
			}
			continue
		}
		again, _ := json.Marshal(api.NewName(registry.Entry{Key: n.Key(), Record: n.Record}))
		if err != nil || string(again) != want {
			t.Errorf("%s: %s, %v; want %s", text, again, err, want)
		}
	}
}

// TestJSONError checks that errors do not mention Go types.
func TestJSONError(t *testing.T) {
	for text, want := range map[string]string{
		`{"target":"https://a.example/"}`:    `unknown field "target"`,
		`{"targets":["https://a.example/"]}`: "targets: found string, want an object",
		`{"targets":{}}`:                     "targets: found object, want a list",
		`{"targets":[{"priority":"first"}]}`: "targets.priority: found string, want a number",
		`{"contact":7}`:                      "contact: found number, want a string",
		`{"prefix":7}`:                       "prefix: found number, want true or false",
		`[]`:                                 "the document: found array, want an object",
		`{"targets":[{"from":"1.5.2031"}]}`:  "1.5.2031",
	} {
		if _, err := api.ReadName([]byte(text)); err == nil ||
			!strings.HasSuffix(err.Error(), want) && !strings.Contains(err.Error(),
				"cannot parse") || strings.Contains(err.Error(), "Go") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestRecordOfPublicFields checks that the document of a record has each text of the record under the same name.
func TestRecordOfPublicFields(t *testing.T) {
	var r resolver.Record
	from := reflect.ValueOf(&r).Elem()
	to := reflect.TypeFor[api.Record]()
	for f, value := range from.Fields() {
		if _, ok := to.FieldByName(f.Name); ok && f.Type.Kind() == reflect.String {
			value.SetString(`{"` + f.Name + `":1}`)
		}
	}
	document := reflect.ValueOf(api.NewRecord(&r)).Elem()
	for f, value := range from.Fields() {
		if f.Type.Kind() == reflect.String && document.FieldByName(f.Name).IsValid() &&
			fmt.Sprintf("%s", document.FieldByName(f.Name)) != value.String() {
			t.Errorf("NewRecord does not copy %s", f.Name)
		}
	}
}

// TestPublicFields checks that the documents of the resolver contain exactly the fields that the table declares
// public.
func TestPublicFields(t *testing.T) {
	members := func(of ...reflect.Type) map[string]bool {
		all := make(map[string]bool)
		for _, document := range of {
			for f := range document.Fields() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				all[name] = true
			}
		}
		return all
	}
	record, target := members(reflect.TypeFor[api.Record]()),
		members(reflect.TypeFor[api.Location](), reflect.TypeFor[api.Link]())
	for _, f := range field.RecordFields() {
		if record[f.Name] != f.Public {
			t.Errorf("Record of the answers has the member %s: %t, and the table says that it is public: %t", f.Name,
				record[f.Name], f.Public)
		}
	}
	for _, f := range field.TargetFields() {
		if target[f.Name] != f.Public {
			t.Errorf("a location or link has the member %s: %t, and the table says that it is public: %t", f.Name,
				target[f.Name], f.Public)
		}
	}
}
