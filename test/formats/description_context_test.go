package formats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/piprate/json-gold/ld"

	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/resolver"
)

// schemaContext replaces the context of schema.org.
type schemaContext struct{}

func (schemaContext) LoadDocument(u string) (*ld.RemoteDocument, error) {
	if u != "https://schema.org" {
		return nil, fmt.Errorf("no context is loaded but that of schema.org: %s", u)
	}
	return &ld.RemoteDocument{
		DocumentURL: u,
		Document:    map[string]any{"@context": map[string]any{"@vocab": "http://schema.org/"}},
	}, nil
}

// TestContextOfDescription checks that every member of a description that is not a term of schema.org belongs
// to the vocabulary of urnd, and is described in docs/terms.md. The metadata of a site is a literal, not a
// graph.
func TestContextOfDescription(t *testing.T) {
	day := time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC)
	s := start(t, nil)
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrGone, TTL: time.Minute, Record: &resolver.Record{
			Name: "urn:x-a:b", Version: 3, Changed: day, Status: "withdrawn", Since: day, Reason: "a",
			Successors: []string{"urn:x-a:c"}, Metadata: `{"name": "A", "@id": "urn:x1:b"}`,
			Contact: "mailto:a@a.example", Redirect: 308, Sandbox: true,
		}}
	}
	var document any
	if err := json.Unmarshal(s.get(t, "/uri-res/N2C?urn:x-a:b"), &document); err != nil {
		t.Fatal(err)
	}
	options := ld.NewJsonLdOptions("")
	options.DocumentLoader, options.Format = schemaContext{}, "application/n-quads"
	quads, err := ld.NewJsonLdProcessor().ToRDF(document, options)
	if err != nil {
		t.Fatal(err)
	}
	var schema, own []string
	for _, match := range regexp.MustCompile(`(?m)^\S+ <([^>]*)> `).FindAllStringSubmatch(quads.(string), -1) {
		if name, ok := strings.CutPrefix(match[1], represent.Vocabulary); ok {
			own = append(own, name)
		} else {
			schema = append(schema, strings.TrimPrefix(match[1], "http://schema.org/"))
		}
	}
	slices.Sort(schema)
	if want := []string{
		"http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
		"identifier",
	}; !slices.Equal(slices.Compact(schema), want) {
		t.Errorf("%q, want %q", schema, want)
	}
	for _, name := range []string{
		"status", "detail", "validity", "warning", "rule", "says", "section", "record", "name", "version", "changed",
		"since", "reason", "successor", "metadata", "contact", "redirect", "sandbox",
	} {
		if !slices.Contains(own, name) {
			t.Errorf("%s is not in %q", name, own)
		}
	}
	if want := `"{\"@id\":\"urn:x1:b\",\"name\":\"A\"}"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>`; !strings.Contains(quads.(string), want) {
		t.Errorf("%s is not in %s", want, quads)
	}
	page, err := os.ReadFile("../../docs/terms.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(own, "namespace", "document", "conforms") {
		if !strings.Contains(string(page), "\n### "+name+"\n") {
			t.Errorf("docs/terms.md does not describe %s", name)
		}
	}
}
