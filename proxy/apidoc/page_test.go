package apidoc_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/urnd/urnd/proxy/apidoc"
)

// documents are those of urnd.
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

// Every operation is on a page, with its summary and all its parameters and statuses, and is listed in the index.
func TestEveryOperation(t *testing.T) {
	type operation struct {
		OperationID, Summary string
		Parameters           []struct{ Name, Description string }
		Responses            map[string]any
	}
	for name, text := range documents(t) {
		made, err := apidoc.New(text, apidoc.Options{Root: "/docs", Document: "/openapi.json", Most: apidoc.MaxContent})
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Paths map[string]map[string]operation
		}
		if err := json.Unmarshal(text, &d); err != nil || len(d.Paths) < 10 {
			t.Fatalf("%s: %d paths, %v", name, len(d.Paths), err)
		}
		index := string(made.Index)
		for path, operations := range d.Paths {
			for method, o := range operations {
				anchor := "#" + o.OperationID + `">`
				at := strings.Index(index, anchor)
				if at < 0 {
					t.Errorf("%s: %s %s is not in the index", name, method, path)
					continue
				}
				slug := strings.TrimSuffix(index[strings.LastIndex(index[:at], "/")+1:at], "?x-lang")
				page, ok := made.Of(slug)
				if !ok {
					t.Errorf("%s: %s %s is at %q, which there is not: %q", name, method, path, slug, made.Slugs())
					continue
				}
				_, section, _ := strings.Cut(string(page.Content), `<h2 id="`+o.OperationID+`">`)
				section, _, _ = strings.Cut(section, "<h2")
				section = html.UnescapeString(section)
				for _, want := range append([]string{strings.ToUpper(method) + " " + path, o.Summary}, statuses(o.Responses)...) {
					if !strings.Contains(section, want) {
						t.Errorf("%s: %s %s has no %q: %s", name, method, path, want, section)
					}
				}
				for _, p := range o.Parameters {
					if !strings.Contains(section, "<code>"+p.Name+"</code>") || !strings.Contains(section, p.Description) {
						t.Errorf("%s: %s %s has no parameter %s: %s", name, method, path, p.Name, section)
					}
				}
				if isGet := method == "get"; isGet != strings.Contains(section, "curl ") {
					t.Errorf("%s: %s %s has no example: %s", name, method, path, section)
				}
			}
		}
	}
}

func statuses(responses map[string]any) (all []string) {
	for status := range responses {
		all = append(all, status)
	}
	return all
}

// Every link within a page leads to something on it, every other one to a page, and no page is too long.
func TestLinks(t *testing.T) {
	for name, text := range documents(t) {
		made, err := apidoc.New(text, apidoc.Options{Root: "/docs", Document: "/openapi.json", Most: apidoc.MaxContent})
		if err != nil {
			t.Fatal(err)
		}
		contents := map[string]string{"index": string(made.Index)}
		for _, slug := range made.Slugs() {
			page, _ := made.Of(slug)
			contents[slug] = string(page.Content)
			if page.Title == "" {
				t.Errorf("%s: %s has no title", name, slug)
			}
		}
		if strings.Contains(string(text), "{BASE}") || strings.Contains(string(text), "x-lang") {
			t.Errorf("%s: the document has a placeholder", name)
		}
		for slug, content := range contents {
			if len(content) > apidoc.MaxContent {
				t.Errorf("%s: %s has %d octets", name, slug, len(content))
			}
			links, ids := anchors(content)
			for _, to := range links {
				at, id, _ := strings.Cut(strings.Replace(to, "?x-lang", "", 1), "#")
				if at == "" && !slices.Contains(ids, id) {
					t.Errorf("%s: %s has no %s", name, slug, to)
				}
				if rest, ok := strings.CutPrefix(at, "/docs/"); ok && contents[rest] == "" {
					t.Errorf("%s: %s leads to %s", name, slug, to)
				}
			}
			if strings.Contains(content, "failed") && strings.Contains(content, "This page failed") || strings.Contains(content, "ZgotmplZ") {
				t.Errorf("%s: %s: %s", name, slug, content)
			}
		}
	}
}

// anchors returns the links of a page, and what they may lead to.
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

// What a document says is text, and what is too long for a page is on several.
func TestNew(t *testing.T) {
	const document = `{"info": {"title": "T", "description": "<b>&"}, "tags": [{"name": "a", "description": "A"}], "paths": {
		"/{id}": {"get": {"operationId": "x", "tags": ["a"], "summary": "<script>alert(1)</script>", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
			"responses": {"200": {"description": "d", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/S"}}}}, "404": {"description": "p"}, "500": {"description": "p"}}}},
		"/y": {"put": {"operationId": "y", "tags": ["a"], "summary": "Y", "responses": {}}},
		"/z": {"get": {"operationId": "z", "tags": ["none"], "summary": "Z", "parameters": [{"name": "uri", "in": "query", "schema": {"type": ["string", "null"]}}], "security": [{"token": []}], "responses": {}}}
	}, "components": {"schemas": {"S": {"type": "object", "properties": {"l": {"type": "array", "items": {"oneOf": [{"$ref": "#/components/schemas/S"}, {"enum": ["<", 1]}]}}}}}}}`
	made, err := apidoc.New([]byte(document), apidoc.Options{Root: "/r/docs", Document: "/r/openapi.json", Most: 100})
	if err != nil || !slices.Equal(made.Slugs(), []string{"a", "a-2", "other"}) || made.Title != "T" {
		t.Fatalf("%+v, %v", made, err)
	}
	for slug, wants := range map[string][]string{
		"a": {
			"&lt;script&gt;alert(1)&lt;/script&gt;", "curl &#39;{BASE}/1&#39;", "404, 500", `<a href="#schema-S">S</a>`,
			`list of <a href="#schema-S">S</a> or &#34;&lt;&#34; | 1`,
		},
		"other": {"curl -H &#39;Authorization: Bearer TOKEN&#39; &#39;{BASE}/z?uri=urn%3Aietf%3Arfc%3A2648&#39;", "string or null", "It needs the token of administrators"},
	} {
		page, _ := made.Of(slug)
		for _, want := range wants {
			if !strings.Contains(string(page.Content), want) {
				t.Errorf("%s has no %s: %s", slug, want, page.Content)
			}
		}
	}
	if index := string(made.Index); !strings.Contains(index, `<a href="/r/docs/a-2?x-lang#y">`) || !strings.Contains(index, "&lt;b&gt;&amp;") {
		t.Error(index)
	}
	page, _ := made.Of("a")
	if got := string(apidoc.At(page.Content, "https://h.example/a'b", "")); !strings.Contains(got, "curl &#39;https://h.example/a&#39;b/1&#39;") || strings.Contains(got, "BASE") {
		t.Error(got)
	}
	if got := string(apidoc.At(made.Index, "", "?lang=de")); !strings.Contains(got, `<a href="/r/docs/a-2?lang=de#y">`) {
		t.Error(got)
	}
	for _, text := range []string{"", "[]", `{"paths": []}`, `{"paths": {"/a": 1}}`} {
		if _, err := apidoc.New([]byte(text), apidoc.Options{}); err == nil {
			t.Errorf("%q is a document", text)
		}
	}
	if _, ok := made.Of("none"); ok {
		t.Error("a page that there is not")
	}
}
