package proxy_test

import (
	"context"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

func withLocations(uris ...string) func(context.Context, resolver.Query) (resolver.Answer, error) {
	return func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		if !q.Service.Locates() {
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Unclaimed: true}
		}
		answer := resolver.Answer{TTL: time.Minute, Cache: resolver.CacheHit}
		for _, u := range uris {
			answer.Locations = append(answer.Locations, resolver.Location{URI: u, From: &resolver.Source{Name: "test"}})
		}
		return answer, nil
	}
}

func TestResources(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/text", http.StatusFound)
		case "/text", "/other":
			w.Header().Set("Content-Type", "text/x; v=\"1\"")
			w.Header().Set("Set-Cookie", "a=b")
			_, _ = io.WriteString(w, r.URL.Path+" as "+r.Header.Get("Accept"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer origin.Close()
	s := start(t, nil)
	s.next = withLocations(origin.URL+"/missing", origin.URL+"/moved", origin.URL+"/other")
	response := s.get(t, "/uri-res/N2R?urn:example:a", "Accept: text/x")
	if body := text(t, response); response.StatusCode != 200 || body != "/text as text/x" ||
		response.Header.Get("Content-Location") != origin.URL+"/text" ||
		response.Header.Get("Content-Type") != `text/x; v="1"` ||
		!strings.HasPrefix(response.Header.Get("Content-Security-Policy"),
			"sandbox; default-src 'none'") || response.Header.Get("Set-Cookie") != "" {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, body)
	}
	response = s.get(t, "/uri-res/I2Rs?urn:example:a", "Accept: text/x")
	kind, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%v, %v", response.Header, err)
	}
	var parts []string
	for in := multipart.NewReader(response.Body, parameters["boundary"]); ; {
		part, err := in.NextPart()
		if err != nil {
			break
		}
		body, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part.Header.Get("Content-Location")+" "+string(body))
	}
	if len(parts) != 2 || parts[1] != origin.URL+"/other /other as text/x" {
		t.Errorf("%q", parts)
	}
	for _, service := range []string{"N2R", "I2Rs"} {
		s.next = withLocations(origin.URL + "[")
		response := s.get(t, "/uri-res/"+service+"?urn:example:a")
		if reported := text(t, response); response.StatusCode != 502 || strings.Contains(reported, `"offset"`) ||
			!strings.Contains(reported, `"urn:example:a"`) {
			t.Errorf("%s of a location that is not a URI: %d %s", service, response.StatusCode, reported)
		}
		s.next = withLocations()
	}
	for _, target := range []string{
		"/uri-res/N2R?", "/uri-res/I2Rs?", "/fetch?uri=", "/", "/uri-res/N2L?",
		"/api/v1/resolve?uri=",
	} {
		if response := s.get(t, target+"urn:example:a"); response.StatusCode != 404 {
			t.Errorf("%s without a location: %d", target, response.StatusCode)
		}
	}
	if response := s.get(t, "/uri-res/L2R?"+origin.URL+"/text"); response.StatusCode != 200 ||
		!strings.HasPrefix(text(t, response), "/text") {
		t.Errorf("the resource of a URL: %d", response.StatusCode)
	}
	if response := s.get(t, "/uri-res/N2R?urn:example:a", "X-Forwarded-For: 192.0.2.1"); response.StatusCode != 403 {
		t.Errorf("a client outside proxy_clients: %d", response.StatusCode)
	}
}

// Forwarded requests have Via, and loops are rejected in all forms of request.
func TestVia(t *testing.T) {
	var via []string
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		via = r.Header.Values("Via")
	}))
	defer origin.Close()
	s := start(t, nil)
	s.next = withLocations(origin.URL + "/")
	if response := s.get(t, "/uri-res/I2R?urn:example:a", "Via: 1.1 other"); response.StatusCode != 200 ||
		strings.Join(via, ", ") != "1.1 other, 1.1 urnd" {
		t.Errorf("%d, via %q", response.StatusCode, via)
	}
	loop := "Via: " + strings.Repeat("1.1 urnd, ", 3) + "1.1 urnd"
	for _, target := range []string{
		"/uri-res/I2R?urn:example:a", "/urn:example:a", "/uri-res/N2L?urn:example:a",
		origin.URL + "/",
	} {
		if response := s.get(t, target, loop); response.StatusCode != http.StatusLoopDetected {
			t.Errorf("%s: %d", target, response.StatusCode)
		}
	}
}

// An error response is private, has Vary: Accept, and 405 has Allow (RFC 9110 sections 12.5.5 and 10.2.1).
func TestAllow(t *testing.T) {
	s := start(t, nil)
	for request, want := range map[string]string{
		"PUT /api/v1/resolve": "GET, HEAD, POST",
		"POST /urn:example:a": "GET, HEAD, OPTIONS", "POST /": "GET, HEAD",
	} {
		response := s.ask(t, request+" HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")[0]
		h := response.Header
		if response.StatusCode != http.StatusMethodNotAllowed || h.Get("Allow") != want || h.Get("Vary") != "Accept" ||
			h.Get("Cache-Control") != "no-store" ||
			h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", request, response.StatusCode, h)
		}
	}
}

// A resource that its origin aborts must not look complete.
func TestResourceThatBreaksOff(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("half", 1<<12))
		_ = http.NewResponseController(w).Flush()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Close()
	}))
	defer origin.Close()
	s := start(t, nil)
	for _, tt := range []struct {
		service   string
		locations []string
	}{{"I2R", []string{origin.URL + "/"}}, {"I2Rs", []string{origin.URL + "/a", origin.URL + "/b"}}} {
		s.next = withLocations(tt.locations...)
		response, err := http.Get("http://" + s.addr + "/uri-res/" + tt.service + "?urn:example:a")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err == nil {
			t.Errorf("%s: %d bytes that look whole", tt.service, len(body))
		}
	}
}

// For a name without a location, the services that retrieve return the same error as those that locate.
func TestResourceOfUnknownNames(t *testing.T) {
	s := start(t, nil)
	for err, status := range map[error]int{
		&resolver.Negative{Kind: resolver.ErrGone}: 410, resolver.ErrForbidden: 403,
		resolver.ErrUnreachable: 502,
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, err }
		for _, service := range []string{"N2L", "N2R", "N2Rs"} {
			if got := s.get(t, "/uri-res/"+service+"?urn:x1:a").StatusCode; got != status {
				t.Errorf("%s, %v: %d, want %d", service, err, got, status)
			}
		}
	}
}
