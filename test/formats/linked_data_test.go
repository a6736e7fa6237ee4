package formats_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/piprate/json-gold/ld"

	"github.com/urnd/urnd/resolver"
)

// TestContextByName checks that a JSON-LD processor loads a context by a registered name from its target: the
// metadata of the name is not a context.
func TestContextByName(t *testing.T) {
	vocabulary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/ld+json")
		_, _ = io.WriteString(w, `{"@context": {"title": "http://terms.example/title"}}`)
	}))
	t.Cleanup(vocabulary.Close)
	s := start(t, nil)
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		record := &resolver.Record{
			Name: q.URI.String(), Version: 1, Status: "active",
			Metadata: `{"title": "A context"}`,
		}
		from := &resolver.Source{Name: "registry", Record: record}
		return resolver.Answer{
			Name: q.URI, TTL: time.Minute,
			Locations: []resolver.Location{{URI: vocabulary.URL + "/context", From: from}},
		}, nil
	}
	document := map[string]any{"@context": "http://" + s.addr + "/urn:x1:context", "title": "A book"}
	expanded, err := ld.NewJsonLdProcessor().Expand(document, ld.NewJsonLdOptions(""))
	if err != nil {
		t.Fatal(err)
	}
	if len(expanded) != 1 || expanded[0].(map[string]any)["http://terms.example/title"] == nil {
		t.Errorf("%v has no title", expanded)
	}
}
