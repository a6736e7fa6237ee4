package urndtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// OpenAPI is an OpenAPI document against which responses are checked. It is safe for concurrent use.
type OpenAPI struct {
	root map[string]any

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	seen     map[string]bool // "get /healthz 200"
}

// ParseOpenAPI parses a document.
func ParseOpenAPI(t testing.TB, text []byte) *OpenAPI {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	d := &OpenAPI{root: value.(map[string]any), compiler: jsonschema.NewCompiler(), seen: make(map[string]bool)}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := d.compiler.AddResource("openapi.json", value); err != nil {
		t.Fatal(err)
	}
	return d
}

// at looks up a path of keys in the document, following JSON pointers.
func (d *OpenAPI) at(keys ...string) (any, bool) {
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

func (d *OpenAPI) schema(keys ...string) (*jsonschema.Schema, error) {
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", " ", "%20")
	pointer := "openapi.json#"
	for _, key := range keys {
		pointer += "/" + escape.Replace(key)
	}
	return d.compiler.Compile(pointer)
}

// Check returns the first violation of the document by a response.
func (d *OpenAPI) Check(method, path string, response *http.Response, body []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	method = strings.ToLower(method)
	status := response.Status[:3]
	where := []string{"paths", path, method, "responses", status}
	for _, other := range []string{status[:1] + "XX", "default"} {
		if _, ok := d.at(where...); !ok {
			where[4] = other
		}
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
	if kind == "" && strings.HasPrefix(status, "3") { // a redirect may have a body
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

// conforms validates a body, or each line of it, against its schema.
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
			continue // an empty batch
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

// Each calls f for each operation.
func (d *OpenAPI) Each(f func(method, path string, operation map[string]any)) {
	for path, item := range asObject(d.root, "paths") {
		for method := range item.(map[string]any) {
			f(method, path, asObject(item, method))
		}
	}
}

// WellFormed checks requirements on any OpenAPI document.
func (d *OpenAPI) WellFormed(t testing.TB) {
	t.Helper()
	if version := d.root["openapi"]; version != "3.1.0" {
		t.Errorf("OpenAPI %v", version)
	}
	var ids []string
	d.Each(func(method, path string, operation map[string]any) {
		id, _ := operation["operationId"].(string)
		if id == "" || slices.Contains(ids, id) || operation["summary"] == "" ||
			len(asObject(operation, "responses")) == 0 {
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
				if _, err := d.schema("paths", path, method, "responses", status, "content", kind,
					"schema"); err != nil {
					t.Errorf("%s %s %s %s: %v", method, path, status, kind, err)
				}
			}
		}
	})
	checkTyped(t, "", d.root)
	text, _ := json.Marshal(d.root)
	for _, ref := range regexp.MustCompile(`"\$ref":"(.*?)"`).FindAllSubmatch(text, -1) {
		keys := strings.Split(strings.TrimPrefix(string(ref[1]), "#/"), "/")
		if _, ok := d.at(keys...); !ok {
			t.Errorf("%s leads nowhere", ref[1])
		}
	}
}

// checkTyped requires that enumerations have a type, and that objects declare their additional members.
// Otherwise client generators produce values of any type for the former, with which some clients panic, and
// objects without members for the latter.
func checkTyped(t testing.TB, where string, value any) {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		_, isList := value["enum"].([]any)
		_, isConst := value["const"].(string)
		if (isList || isConst) && value["type"] == nil {
			t.Errorf("%s has values without a type", where)
		}
		if members := value["properties"]; value["type"] == "object" && members == nil &&
			value["additionalProperties"] == nil {
			t.Errorf("%s is an object without members", where)
		}
		for key, inner := range value {
			checkTyped(t, where+"/"+key, inner)
		}
	case []any:
		for i, inner := range value {
			checkTyped(t, where+"/"+strconv.Itoa(i), inner)
		}
	}
}

// Template returns the path of the document that matches a request path: the one with the longest literal texts
// before its parameters.
func (d *OpenAPI) Template(path string) (template string, ok bool) {
	parameter := regexp.MustCompile(`\\\{.*?\\\}`)
	for candidate := range asObject(d.root, "paths") {
		// The last parameter of some paths is an identifier, which may contain slashes.
		pattern := "^" + parameter.ReplaceAllString(regexp.QuoteMeta(candidate), "(.+)") + "$"
		fixed, _, _ := strings.Cut(candidate, "{")
		before, _, _ := strings.Cut(template, "{")
		longer := len(fixed) > len(before) ||
			len(fixed) == len(before) && strings.Count(candidate, "/") > strings.Count(template, "/")
		if regexp.MustCompile(pattern).MatchString(path) && (!ok || longer) {
			template, ok = candidate, true
		}
	}
	return template, ok
}

// CheckAllSucceeded fails if an operation had no successful response.
func (d *OpenAPI) CheckAllSucceeded(t testing.TB) {
	t.Helper()
	d.Each(func(method, path string, operation map[string]any) {
		for status := range asObject(operation, "responses") {
			if status < "400" && d.seen[method+" "+path+" "+status] {
				return
			}
		}
		t.Errorf("%s %s: no successful response was seen", method, path)
	})
}

// CheckAllSeen fails if a successful response of an operation was not seen.
func (d *OpenAPI) CheckAllSeen(t testing.TB) {
	t.Helper()
	d.Each(func(method, path string, operation map[string]any) {
		for status := range asObject(operation, "responses") {
			if status < "400" && !d.seen[method+" "+path+" "+status] {
				t.Errorf("%s %s: no response %s was seen", method, path, status)
			}
		}
	})
}
