package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns"
)

// identifying adds the built-in table of identifiers to a configuration.
func identifying(t *testing.T) func(*proxy.Config) {
	t.Helper()
	table, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *proxy.Config) { c.Names.Identifiers = table }
}

// Pasted forms of identifiers are recognized. The redirect comes from the table of identifiers, not from the
// client: no right to use the proxy is needed.
func TestPastedIdentifiers(t *testing.T) {
	s := start(t, func(c *proxy.Config) { identifying(t)(c); c.Access.Proxy = nil })
	for target, want := range map[string]string{
		"/?uri=" + url.QueryEscape("ISBN 0 395 36341 1"): "https://a.example/urn:isbn:0395363411",
		"/doi:10.1000/182": "https://a.example/urn:doi:10.1000/182",
	} {
		if got := s.get(t, target); got.StatusCode != http.StatusFound || got.Header.Get("Location") != want {
			t.Errorf("%s: %d %s, want %s", target, got.StatusCode, got.Header.Get("Location"), want)
		}
	}
	if got := s.get(t, "/?uri="); got.StatusCode != http.StatusOK || !strings.Contains(text(t, got), "<form") {
		t.Errorf("an empty form: %d", got.StatusCode)
	}
}

// Unrecognized text gets suggestions, and the typed text is preserved.
func TestSuggestions(t *testing.T) {
	s := start(t, identifying(t))
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{},
			&resolver.Negative{Kind: resolver.ErrNotFound, Reason: "nobody knows it", Unclaimed: true}
	}
	form := func(text string) string { return "/?uri=" + url.QueryEscape(text) }
	for target, tt := range map[string]struct {
		status int
		want   string
	}{
		"/?uri=see+urn%3Aietf%3Arfc%3A1+there": {400, "urn:ietf:rfc:1"},
		"/ietf:rfc:1":                          {501, "urn:ietf:rfc:1"},
		"/urn:isbm:0395363411":                 {404, "urn:isbn:0395363411"},
		"/urn:itef:rfc:1":                      {404, "urn:ietf:rfc:1"},
		"/about":                               {404, ""},
		form("urn:ietf:rfc 1"):                 {400, "urn:ietf:rfc:1"},
		form("urn.ietf.rfc.1"):                 {400, "urn:ietf:rfc:1"},
		form("10. 1000/182"):                   {400, "urn:doi:10.1000/182"},
		"/urn:ietf:rfc:1.":                     {400, "urn:ietf:rfc:1"},
		"/urn:isbn:978-0-395-36341-7":          {400, ""}, // the wrong digit is unknown
		"/api/v1/nope":                         {404, ""},
		"/unknown:thing":                       {501, ""},
		// Names stay strict: RFC 8141 section 2.2.
		"/urn:example:a[1]":                    {400, "urn:example:a%5B1%5D"},
		"/urn:example:a1%":                     {400, "urn:example:a1%25"},
		"urn:example:aü":                       {400, "urn:example:a%C3%BC"},
		"/uri-res/N2L?urn:example:a|":          {400, "urn:example:a%7C"},
		"/api/v1/resolve?uri=urn:example:a%5B": {400, "urn:example:a%5B"},
	} {
		response := s.get(t, target)
		var p struct{ Suggestions []string }
		if err := json.Unmarshal([]byte(text(t, response)), &p); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if response.StatusCode != tt.status || strings.Join(p.Suggestions, " ") != tt.want {
			t.Errorf("%s: %d %v, want %d %s", target, response.StatusCode, p.Suggestions, tt.status, tt.want)
		}
	}
	page := text(t, s.get(t, "/?uri=%3Cscript%3E+urn%3Aietf%3Arfc%3A1", "Accept: text/html"))
	for _, want := range []string{
		`Did you mean <a href="/urn:ietf:rfc:1">`, `value="&lt;script&gt; urn:ietf:rfc:1"`,
		"<details>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
}

// If the DNS does not answer, a name of an unknown namespace may be mistyped; one of a known namespace is not.
func TestSuggestionsWithoutDNS(t *testing.T) {
	s := start(t, identifying(t))
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, resolver.ErrUnreachable
	}
	for target, want := range map[string]string{
		"/urn:isbm:0395363411": `["urn:isbn:0395363411"]`,
		"/urn:isbn:0395363411": "null", "/urn:nowhere:a": "null",
	} {
		response := s.get(t, target)
		var p struct{ Suggestions json.RawMessage }
		if err := json.Unmarshal([]byte(text(t, response)), &p); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if got := strings.Join(strings.Fields(string(p.Suggestions)),
			""); response.StatusCode != http.StatusBadGateway || got != strings.TrimPrefix(want, "null") {
			t.Errorf("%s: %d, %s", target, response.StatusCode, got)
		}
	}
}
