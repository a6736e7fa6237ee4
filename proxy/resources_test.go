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
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
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
	if body := text(t, response); response.StatusCode != 200 || body != "/text as text/x" || response.Header.Get("Content-Location") != origin.URL+"/text" ||
		response.Header.Get("Content-Type") != `text/x; v="1"` || !strings.HasPrefix(response.Header.Get("Content-Security-Policy"),
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
	s.next = withLocations(origin.URL+"/missing", origin.URL+"/text")
	if response := s.get(t, "/uri-res/I2Rs?urn:example:a"); response.Header.Get("Content-Location") != origin.URL+"/text" {
		t.Errorf("a single version: %v", response.Header)
	}
	s.next = withLocations(origin.URL+"/missing", origin.URL+"/loop")
	if response := s.get(t, "/uri-res/N2R?urn:example:a"); response.StatusCode != 502 {
		t.Errorf("no version: %d", response.StatusCode)
	}
	for _, service := range []string{"N2R", "I2Rs"} {
		s.next = withLocations(origin.URL + "[")
		response := s.get(t, "/uri-res/"+service+"?urn:example:a")
		if said := text(t, response); response.StatusCode != 502 || strings.Contains(said, `"offset"`) || !strings.Contains(said, `"urn:example:a"`) {
			t.Errorf("%s of a location that is no URI: %d %s", service, response.StatusCode, said)
		}
		s.next = withLocations()
	}
	for _, target := range []string{"/uri-res/N2R?", "/uri-res/I2Rs?", "/fetch?uri=", "/", "/uri-res/N2L?", "/api/v1/resolve?uri="} {
		if response := s.get(t, target+"urn:example:a"); response.StatusCode != 404 {
			t.Errorf("%s without a location: %d", target, response.StatusCode)
		}
	}
	if response := s.get(t, "/uri-res/L2R?"+origin.URL+"/text"); response.StatusCode != 200 || !strings.HasPrefix(text(t, response), "/text") {
		t.Errorf("the resource of a URL: %d", response.StatusCode)
	}
	if response := s.get(t, "/uri-res/N2R?urn:example:a", "X-Forwarded-For: 192.0.2.1"); response.StatusCode != 403 {
		t.Errorf("a client outside proxy_clients: %d", response.StatusCode)
	}
}

// Outgoing requests carry Via, and loops are refused for requests of all forms.
func TestVia(t *testing.T) {
	var via []string
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { via = r.Header.Values("Via") }))
	defer origin.Close()
	s := start(t, nil)
	s.next = withLocations(origin.URL + "/")
	if response := s.get(t, "/uri-res/I2R?urn:example:a", "Via: 1.1 other"); response.StatusCode != 200 || strings.Join(via, ", ") != "1.1 other, 1.1 urnd" {
		t.Errorf("%d, via %q", response.StatusCode, via)
	}
	loop := "Via: " + strings.Repeat("1.1 urnd, ", 3) + "1.1 urnd"
	for _, target := range []string{"/uri-res/I2R?urn:example:a", "/urn:example:a", "/uri-res/N2L?urn:example:a", origin.URL + "/"} {
		if response := s.get(t, target, loop); response.StatusCode != http.StatusLoopDetected {
			t.Errorf("%s: %d", target, response.StatusCode)
		}
	}
}

func TestAllow(t *testing.T) {
	s := start(t, nil)
	for request, want := range map[string]string{"PUT /api/v1/resolve": "GET, HEAD, POST", "POST /urn:example:a": "GET, HEAD, OPTIONS", "POST /": "GET, HEAD"} {
		response := s.ask(t, request+" HTTP/1.1\r\nHost: a\r\n\r\n")[0]
		if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != want {
			t.Errorf("%s: %d, %q", request, response.StatusCode, response.Header.Get("Allow"))
		}
	}
}

// A resource that is cut off at its origin does not look complete.
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
			t.Errorf("%s: %d octets that look whole", tt.service, len(body))
		}
	}
}

// RFC 2483 sections 4.1 to 4.4: the errors of every service that locates or fetches.
func TestErrorsOfServices(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		name   string
		err    error
		status int
	}{
		{"urn:isbn:1", nil, 400},
		{"urn:x1:a", &resolver.Negative{Kind: resolver.ErrNotFound}, 404},
		{"urn:x1:a", &resolver.Negative{Kind: resolver.ErrUnsupported}, 404},
		{"urn:x1:a", &resolver.Negative{Kind: resolver.ErrGone}, 410},
		{"urn:x1:a", resolver.ErrForbidden, 403},
		{"urn:x1:a", resolver.ErrUnreachable, 502},
		{"urn:x1:a", context.DeadlineExceeded, 504},
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, tt.err }
		for _, service := range []string{"N2L", "N2Ls", "N2R", "N2Rs"} {
			if got := s.get(t, "/uri-res/"+service+"?"+tt.name).StatusCode; got != tt.status {
				t.Errorf("%s of %s, %v: %d, want %d", service, tt.name, tt.err, got, tt.status)
			}
		}
	}
}
