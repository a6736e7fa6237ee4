package formats_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// openAPIDocument is an OpenAPI document that responses are checked against.
type openAPIDocument struct {
	root     map[string]any
	compiler *jsonschema.Compiler
	seen     map[string]bool // "get /healthz 200"
}

func describe(t *testing.T, text []byte) *openAPIDocument {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	d := &openAPIDocument{root: value.(map[string]any), compiler: jsonschema.NewCompiler(), seen: make(map[string]bool)}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := d.compiler.AddResource("openapi.json", value); err != nil {
		t.Fatal(err)
	}
	return d
}

// at follows keys into the document, and pointers of it.
func (d *openAPIDocument) at(keys ...string) (any, bool) {
	var value any = d.root
	for _, key := range keys {
		object, _ := value.(map[string]any)
		inner, ok := object[key]
		if !ok {
			return nil, false
		}
		if ref, isRef := inner.(map[string]any)["$ref"].(string); isRef {
			if inner, ok = d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...); !ok {
				return nil, false
			}
		}
		value = inner
	}
	return value, true
}

func (d *openAPIDocument) schema(keys ...string) (*jsonschema.Schema, error) {
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", " ", "%20")
	pointer := "openapi.json#"
	for _, key := range keys {
		pointer += "/" + escape.Replace(key)
	}
	return d.compiler.Compile(pointer)
}

// check returns how a response differs from the document.
func (d *openAPIDocument) check(method, path string, response *http.Response, body []byte) error {
	method = strings.ToLower(method)
	status := response.Status[:3]
	where := []string{"paths", path, method, "responses", status}
	if _, ok := d.at(where...); !ok {
		where[4] = "default"
	}
	value, ok := d.at(where...)
	if !ok {
		return fmt.Errorf("%s %s: there is no response %s", method, path, status)
	}
	d.seen[method+" "+path+" "+status] = true
	for name := range asObject(value, "headers") {
		if name == "Location" && response.Header.Get(name) == "" {
			return fmt.Errorf("%s %s: %s without %s", method, path, status, name)
		}
	}
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil && len(body) == 0 && asObject(value, "content") == nil {
		return nil
	}
	if kind == "" && strings.HasPrefix(status, "3") { // a redirect may have a note
		return nil
	}
	for _, listed := range []string{kind, "*/*"} {
		if _, ok := d.at(append(where, "content", listed, "schema")...); !ok {
			continue
		}
		schema, err := d.schema(append(where, "content", listed, "schema")...)
		if err != nil {
			return err
		}
		return conforms(schema, kind, body)
	}
	return fmt.Errorf("%s %s: %s is not to be of type %q", method, path, status, kind)
}

// conforms validates a body, or each line of one, by its schema.
func conforms(schema *jsonschema.Schema, kind string, body []byte) error {
	documents := [][]byte{body}
	switch {
	case kind == "application/x-ndjson":
		documents = bytes.Split(bytes.TrimSpace(body), []byte("\n"))
	case !strings.HasSuffix(kind, "json"):
		return schema.Validate(string(body))
	}
	for _, document := range documents {
		if len(document) == 0 && kind == "application/x-ndjson" {
			continue // a batch of nothing
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err != nil {
			return err
		}
		if err := schema.Validate(value); err != nil {
			return fmt.Errorf("%w: %s", err, document)
		}
	}
	return nil
}

func asObject(value any, key string) map[string]any {
	object, _ := value.(map[string]any)
	inner, _ := object[key].(map[string]any)
	return inner
}

// each calls f for each operation.
func (d *openAPIDocument) each(f func(method, path string, operation map[string]any)) {
	for path, item := range asObject(d.root, "paths") {
		for method := range item.(map[string]any) {
			f(method, path, asObject(item, method))
		}
	}
}

// wellFormed checks what holds for any OpenAPI document.
func (d *openAPIDocument) wellFormed(t *testing.T) {
	t.Helper()
	if version := d.root["openapi"]; version != "3.1.0" {
		t.Errorf("OpenAPI %v", version)
	}
	var ids []string
	d.each(func(method, path string, operation map[string]any) {
		id, _ := operation["operationId"].(string)
		if id == "" || slices.Contains(ids, id) || operation["summary"] == "" || len(asObject(operation, "responses")) == 0 {
			t.Errorf("%s %s: %q", method, path, id)
		}
		ids = append(ids, id)
		var named []string
		parameters, _ := operation["parameters"].([]any)
		for _, p := range parameters {
			if parameter := p.(map[string]any); parameter["in"] == "path" {
				named = append(named, "{"+parameter["name"].(string)+"}")
			}
		}
		if inPath := regexp.MustCompile(`\{.*?\}`).FindAllString(path, -1); !slices.Equal(inPath, named) {
			t.Errorf("%s %s: parameters %q", method, path, named)
		}
		for status, response := range asObject(operation, "responses") {
			for kind := range asObject(response, "content") {
				if _, err := d.schema("paths", path, method, "responses", status, "content", kind, "schema"); err != nil {
					t.Errorf("%s %s %s %s: %v", method, path, status, kind, err)
				}
			}
		}
	})
	text, _ := json.Marshal(d.root)
	for _, ref := range regexp.MustCompile(`"\$ref":"(.*?)"`).FindAllSubmatch(text, -1) {
		keys := strings.Split(strings.TrimPrefix(string(ref[1]), "#/"), "/")
		if _, ok := d.at(keys...); !ok {
			t.Errorf("%s leads nowhere", ref[1])
		}
	}
}

// checkAllSeen fails where a successful response of an operation was not seen.
func (d *openAPIDocument) checkAllSeen(t *testing.T) {
	t.Helper()
	d.each(func(method, path string, operation map[string]any) {
		for status := range asObject(operation, "responses") {
			if status < "400" && !d.seen[method+" "+path+" "+status] {
				t.Errorf("%s %s: no response %s was seen", method, path, status)
			}
		}
	})
}
