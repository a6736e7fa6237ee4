package answer_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/testserver"
)

func TestAPI(t *testing.T) {
	s := start(t, nil)
	response := s.get(t, "/api/v1/resolve?uri=URN:ietf:rfc:2648")
	var got api.Answer
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Input != "URN:ietf:rfc:2648" || got.Canonical != "urn:ietf:rfc:2648" || got.Service != "I2L" ||
		got.TTL != 90 ||
		got.Cache != "hit" || len(got.Locations) != 1 ||
		got.Locations[0].URI != "https://a.example/urn:ietf:rfc:2648" || len(got.Trace) == 0 {
		t.Errorf("%+v", got)
	}
}

// Every answer and every error has a trace as a format.
func TestTrace(t *testing.T) {
	s := start(t, nil)
	for target, status := range map[string]int{
		"/URN:example:a": 200, "/uri-res/N2L?URN:example:a": 200, "/api/v1/explain?uri=URN:example:a": 200,
		"/URN:isbn:1": 400,
	} {
		if plain := s.get(t, target,
			"Accept: application/vnd.urnd.trace+json;q=0, */*"); strings.Contains(plain.Header.Get("Content-Type"),
			"trace") {
			t.Errorf("%s: a trace although Accept excludes it", target)
		}
		response := s.get(t, target, "Accept: application/vnd.urnd.trace+json")
		body := text(t, response)
		if response.StatusCode != status || !strings.Contains(body, "scheme case: URN") {
			t.Errorf("%s: %d %s", target, response.StatusCode, body)
		}
	}
}

// A redirect has content for clients that show it, and documents have links and cache fields.
func TestNotesAndLinks(t *testing.T) {
	s := start(t, nil)
	response := s.get(t, "/urn:a1:b", "Accept: text/html,*/*;q=0.8")
	if body := text(t, response); response.StatusCode != http.StatusFound ||
		!testserver.ParseHTML(body).First("a", "href=https://a.example/urn:a1:b").Exists() {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	for _, target := range []string{
		"/api/v1/resolve?uri=URN:a1:b", "/uri-res/N2C?URN:a1:b", "/uri-res/N2Ls?URN:a1:b",
		"/uri-res/N2Ns?URN:isbn:0-395-36341-1",
	} {
		links := strings.Join(s.get(t, target).Header["Link"], ", ")
		describes := `rel="describedby"`
		if strings.Contains(target, "2C?") {
			describes = `</urn:a1:b>; rel="describes"`
		}
		for _, rel := range []string{
			`rel="canonical"`, `rel="alternate"`, `rel="linkset"`, describes,
			`</api/v1/openapi.json>; rel="service-desc"`,
		} {
			if !strings.Contains(links, rel) {
				t.Errorf("%s: no %s in %s", target, rel, links)
			}
		}
	}
	if got := s.get(t, "/api/v1/resolve?uri=urn:a1:b").Header; got.Get("Cache-Control") != "max-age=90" ||
		!strings.HasPrefix(got.Get("Cache-Status"),
			"urnd; hit") {
		t.Errorf("cache fields: %v", got)
	}
	if got := s.get(t, "/api/v1/explain?uri=urn:a1:b").Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("an explanation: %s", got)
	}
}
