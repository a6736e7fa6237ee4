package answer_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

// The resolution trace of a name is a page for browsers, and the JSON document for all others. Both have the
// same steps, without those inside the network.
func TestExplainPage(t *testing.T) {
	s := start(t, nil)
	rule := &resolver.Rule{
		Domain: "a1.urn.arpa.", TTL: time.Hour, Order: 10, Flags: "u",
		Regexp: "!^urn:a1:(.*)$!https://a.example/\\1!", Matched: "urn:a1:b", Result: "https://a.example/b",
		Use: resolver.RuleUsed,
	}
	s.next = func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
		trace := resolver.TraceOf(ctx)
		trace.Add(resolver.Step{Stage: "dns", Took: time.Millisecond, Public: "a1.urn.arpa. NAPTR: 1 <record>"},
			"a1.urn.arpa. NAPTR at 10.0.0.1: 1 <record>")
		trace.Add(resolver.Step{Stage: "ddds", Code: "rule_used", Values: []any{"Domain", "a1.urn.arpa."}, Rule: rule},
			"a1.urn.arpa.: used")
		if strings.HasSuffix(q.URI.String(), ":none") {
			return resolver.Answer{},
				&resolver.Negative{
					Kind: resolver.ErrNotFound, Reason: "no <rule>", Code: "rules_loop",
					Values: []string{"Domain", "no <rule>"},
				}
		}
		return resolver.Answer{
			Name: q.URI, TTL: time.Minute,
			Locations: []resolver.Location{{URI: "https://a.example/b", From: &resolver.Source{Name: "ddds"}}},
		}, nil
	}
	for _, tt := range []struct {
		target, accept string
		status         int
		contentType    string
		has            []string
	}{
		{
			"/api/v1/explain?uri=urn:a1:b", "X: y", 200, "application/json",
			[]string{`"detail": "a1.urn.arpa.: used"`, "1 <record>"},
		},
		{"/api/v1/explain?uri=urn:a1:b", "Accept: */*", 200, "application/json", nil},
		{"/api/v1/explain?uri=urn:a1:b&format=json", "Accept: text/html", 200, "application/json", nil},
		{"/api/v1/resolve?uri=urn:a1:b", "Accept: text/html", 200, "application/json", nil},
		{"/api/v1/explain?uri=urn:a1:b", "Accept: text/html", 200, "text/html; charset=utf-8", []string{
			"<h1>How it was resolved</h1>", "<svg", "1 &lt;record&gt;", `<dt>Match</dt><dd dir="auto">urn:a1:b</dd>`,
			`<a href="https://a.example/b">`,
			`href="/api/v1/explain?uri=urn%3Aa1%3Ab&amp;format=json"`,
		}},
		{
			"/api/v1/explain?uri=urn:a1:b&service=I2Ls&lang=de", "Accept: text/html", 200, "text/html; charset=utf-8",
			[]string{`<html lang="de">`, "service=I2Ls&amp;lang=en"},
		},
		{
			"/api/v1/explain?uri=urn:a1:none", "Accept: text/html", 404, "text/html; charset=utf-8",
			[]string{"No system that this server can ask knows it.", "no &lt;rule&gt;", "<svg"},
		},
		{"/api/v1/explain?uri=urn:a1:none", "X: y", 404, "application/problem+json", []string{`"trace"`}},
	} {
		response := s.get(t, tt.target, tt.accept)
		body := text(t, response)
		if response.StatusCode != tt.status || response.Header.Get("Content-Type") != tt.contentType ||
			strings.Contains(body, "10.0.0.1") {
			t.Errorf("%s, %s: %s %q %s", tt.target, tt.accept, response.Status, response.Header, body)
		}
		isPage := strings.HasPrefix(tt.contentType, "text/html")
		vary := strings.Split(strings.Join(response.Header.Values("Vary"), ", "), ", ")
		if !slices.Contains(vary, "Accept") || isPage != slices.Contains(vary, "Accept-Language") {
			t.Errorf("%s, %s: Vary: %q", tt.target, tt.accept, vary)
		}
		if tt.status == http.StatusOK && strings.Contains(tt.target, "explain") &&
			response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be stored", tt.target)
		}
		for _, want := range tt.has {
			if !strings.Contains(body, want) {
				t.Errorf("%s, %s has no %s: %s", tt.target, tt.accept, want, body)
			}
		}
	}
}
