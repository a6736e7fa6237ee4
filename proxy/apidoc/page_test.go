package apidoc_test

import (
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/urnd/urnd/proxy/apidoc"
	"github.com/urnd/urnd/proxy/pages"
)

// documents returns the OpenAPI documents of urnd.
func documents(t *testing.T) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	for _, name := range []string{"answer", "admin/api"} {
		text, err := os.ReadFile("../" + name + "/openapi.json")
		if err != nil {
			t.Fatal(err)
		}
		all[name] = text
	}
	return all
}

// place returns the location of the pages.
func place() apidoc.Location { return placeIn(pages.New(pages.Site{}).For(pages.Chosen("en"))) }

func placeIn(in pages.Writer) apidoc.Location {
	return apidoc.Location{Root: "/docs", Document: "/openapi.json", Base: "https://h.example", Writer: in}
}

// allPages returns all pages of a document by slug; "" is the index.
func allPages(t *testing.T, text []byte) map[string]string {
	t.Helper()
	docs, err := apidoc.New(text)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, slug := range []string{"", "schemas"} {
		_, content, _ := docs.Page(slug, place())
		all[slug] = string(content)
	}
	for _, g := range docs.Groups {
		title, content, ok := docs.Page(g.Name, place())
		if !ok || !strings.EqualFold(title, g.Name) {
			t.Errorf("%s: %q, %t", g.Name, title, ok)
		}
		all[g.Name] = string(content)
	}
	return all
}

// Each operation is on the page of its tag, with its summary, parameters and statuses, and is listed in the
// index.
func TestEveryOperation(t *testing.T) {
	type operation struct {
		OperationID, Summary string
		Tags                 []string
		Parameters           []struct{ Name, Description string }
		Responses            map[string]any
	}
	for name, text := range documents(t) {
		var d struct {
			Paths map[string]map[string]operation
		}
		if err := json.Unmarshal(text, &d); err != nil || len(d.Paths) < 10 {
			t.Fatalf("%s: %d paths, %v", name, len(d.Paths), err)
		}
		all := allPages(t, text)
		for path, operations := range d.Paths {
			for method, o := range operations {
				if link := `<a href="/docs/` + o.Tags[0] + "?lang=en#" + o.OperationID +
					`">`; !strings.Contains(all[""], link) {
					t.Errorf("%s: %s is not in the index", name, link)
				}
				_, section, _ := strings.Cut(all[o.Tags[0]], `<h2 id="`+o.OperationID+`">`)
				section, _, _ = strings.Cut(section, "<h2")
				section = html.UnescapeString(section)
				for _, want := range append([]string{strings.ToUpper(method) + " " + path, o.Summary},
					statuses(o.Responses)...) {
					if !strings.Contains(section, want) {
						t.Errorf("%s: %s %s has no %q: %s", name, method, path, want, section)
					}
				}
				for _, p := range o.Parameters {
					if !strings.Contains(section, "<code>"+p.Name+"</code>") ||
						!strings.Contains(section, p.Description) {
						t.Errorf("%s: %s %s has no parameter %s: %s", name, method, path, p.Name, section)
					}
				}
				_, example, ok := strings.Cut(section, "<code>curl ")
				if ok != (method == "get") {
					t.Errorf("%s: %s %s has an example: %t", name, method, path, ok)
				}
				_, example, _ = strings.Cut(example, "'https://h.example")
				example, _, _ = strings.Cut(example, "'</code>")
				if u, err := url.Parse(example); ok &&
					(err != nil || strings.ContainsAny(u.Path, "{}<") || u.Path == "") {
					t.Errorf("%s: %s %s: %q is not an example, %v", name, method, path, example, err)
				}
			}
		}
	}
}

func statuses(responses map[string]any) (all []string) {
	for status := range responses {
		all = append(all, "<dt><code>"+status+"</code></dt>")
	}
	return all
}

// Each link leads to an existing page and fragment.
func TestLinks(t *testing.T) {
	for name, text := range documents(t) {
		all := allPages(t, text)
		for slug, content := range all {
			links, _ := anchors(content)
			for _, to := range links {
				at, id, _ := strings.Cut(strings.Replace(to, "?lang=en", "", 1), "#")
				page := strings.TrimPrefix(at, "/docs/")
				if at == "" {
					page = slug
				}
				if at == "/openapi.json" {
					continue
				}
				_, ids := anchors(all[page])
				if all[page] == "" || id != "" && !slices.Contains(ids, id) {
					t.Errorf("%s: %s leads to %s", name, slug, to)
				}
			}
			if strings.Contains(content, "This page failed") || strings.Contains(content, "ZgotmplZ") ||
				strings.Contains(content, "x-lang") ||
				strings.Contains(content, "&lt;nil&gt;") || strings.Contains(content, "map[") {
				t.Errorf("%s: %s: %s", name, slug, content)
			}
		}
	}
}

// anchors returns the links of a page, and its IDs.
func anchors(content string) (links, ids []string) {
	tokens := html.NewTokenizer(strings.NewReader(content))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		for _, a := range tokens.Token().Attr {
			switch a.Key {
			case "href":
				links = append(links, a.Val)
			case "id":
				ids = append(ids, a.Val)
			}
		}
	}
	return links, ids
}

// Texts of a document are escaped.
func TestNew(t *testing.T) {
	const document = `{"info": {"title": "T", "description": "<b>&"}, "tags": [{"name": "a", "description": "A"}, {"name": "b"}], "paths": {
		"/{id}": {"get": {"operationId": "x", "tags": ["a"], "summary": "<script>alert(1)</script>", "parameters": [{"name": "id", "in": "path", "required": true, "example": 1, "schema": {"type": "string", "maxLength": 1000000}}],
			"responses": {"200": {"description": "d", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/S"}}}}, "404": {"description": "p"}}}},
		"/y": {"put": {"operationId": "y", "tags": ["a"], "summary": "Y", "responses": {}}},
		"/z": {"get": {"operationId": "z", "tags": ["b"], "summary": "Z", "parameters": [{"name": "uri", "in": "query", "example": "urn:a:b", "schema": {"type": ["string", "null"]}}], "security": [{"token": []}], "responses": {}}}
	}, "components": {"securitySchemes": {"token": {"description": "a <token>"}}, "schemas": {"S": {"type": "object", "required": ["l"], "properties": {"l": {"type": "array", "items": {"oneOf": [{"$ref": "#/components/schemas/S"}, {"enum": ["<", 1]}]}}}}}}}`
	all := allPages(t, []byte(document))
	for slug, wants := range map[string][]string{
		"": {`<a href="/docs/a?lang=en#y">`, "&lt;b&gt;&amp;", "a &lt;token&gt;"},
		"a": {
			"&lt;script&gt;", "curl 'https://h.example/1'", `<a href="schemas?lang=en#S"><code>S</code></a>`,
			"<code>string</code> of at most 1000000, required",
		},
		"b": {
			"curl -H 'Authorization: Bearer TOKEN' 'https://h.example/z?uri=urn%3Aa%3Ab'",
			"<code>string</code> or <code>null</code>", "If configured: <span>a &lt;token&gt;.</span>",
		},
		"schemas": {
			`list of <a href="schemas?lang=en#S"><code>S</code></a> or <code>&lt;</code> | <code>1</code>`,
			"required: <code>l</code>",
		},
	} {
		for _, want := range wants {
			if !strings.Contains(strings.ReplaceAll(all[slug], "\n", " "), want) {
				t.Errorf("%s has no %s: %s", slug, want, all[slug])
			}
		}
	}
	for _, text := range []string{
		"", "[]", `{"paths": []}`, `{"paths": {"/a": 1}}`,
		`{"paths": {"/a": {"get": {"tags": ["none"]}}}}`,
	} {
		if _, err := apidoc.New([]byte(text)); err == nil {
			t.Errorf("%q is a document", text)
		}
	}
	docs, err := apidoc.New([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := docs.Page("none", place()); ok {
		t.Error("a page that there is not")
	}
}
