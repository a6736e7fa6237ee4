package proxy_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/scheme"
)

// The header fields that browsers send for a navigation, and for a subresource.
const (
	agentField  = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	acceptPage  = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	acceptImage = "Accept: image/avif,image/webp,*/*;q=0.8"
	acceptAny   = "Accept: */*"
)

func metadata(site, mode, dest string, more ...string) []string {
	return append([]string{
		agentField, acceptPage, "Sec-Fetch-Site: " + site, "Sec-Fetch-Mode: " + mode,
		"Sec-Fetch-Dest: " + dest,
	}, more...)
}

// retrievals are the targets that cause a retrieval, of a name that resolves to location or of location itself.
func retrievals(location string) []string {
	return []string{
		fetchOf(location), "/fetch?uri=" + location, fetchOf("urn:example:a"), "/uri-res/N2R?urn:example:a",
		"/uri-res/N2Rs?urn:example:a", "/uri-res/I2R?urn:example:a", "/uri-res/I2Rs?urn:example:a",
		"/uri-res/L2R?" + location, "/urn:example:a?s=I2R",
		"/?service=I2R&uri=urn:example:a",
	}
}

// A page of another site cannot cause a retrieval with the rights of its reader, in any form of request. asks
// is a request made by a page; lines are servers that may take a URL for commands.
func TestPagesOfOtherSites(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "TOPSECRET-42")
	}))
	defer origin.Close()
	s := start(t, withGopher)
	const allowed, refused, asked = 200, 403, 0
	for _, tt := range []struct {
		name       string
		fields     []string
		web, lines int
	}{
		{"a program", nil, allowed, allowed},
		{"a page that is shown again", metadata("none", "navigate", "document"), allowed, asked},
		{"a link", metadata("cross-site", "navigate", "document", "Sec-Fetch-User: ?1"), allowed, allowed},
		{"meta refresh, window.open", metadata("cross-site", "navigate", "document"), asked, asked},
		{"an image", metadata("cross-site", "no-cors", "image"), refused, refused},
		{"by http: an image", []string{agentField, acceptImage, "Referer: http://evil.example/"}, refused, refused},
		{"by http: its image", []string{agentField, acceptImage}, allowed, refused},
	} {
		for _, location := range []string{origin.URL + "/", "gopher://a.example/1"} {
			s.next = withLocations(location)
			want := tt.lines
			if strings.HasPrefix(location, "http") {
				want = tt.web
			}
			for _, target := range retrievals(location) {
				response := s.get(t, target, tt.fields...)
				body := text(t, response)
				requested := response.StatusCode == 403 && strings.Contains(body, "Open <a href=")
				if want == asked && !requested || want != asked && (requested || response.StatusCode != want) {
					t.Errorf("%s: %s at %s: %d, want %d\n%.300s", tt.name, target, location, response.StatusCode,
						want, body)
				}
				if policy := response.Header.Get("Content-Security-Policy"); want != allowed &&
					!strings.HasSuffix(policy, "; frame-ancestors 'none'") {
					t.Errorf("%s: %s: a frame may show it: %s", tt.name, target, policy)
				}
				if want != allowed && (response.Header.Get("Cache-Control") != "no-store" ||
					strings.Contains(body, "TOPSECRET") || strings.Contains(body, "Menu of")) {
					t.Errorf("%s: %s: %v\n%.300s", tt.name, target, response.Header, body)
				}
			}
		}
	}
}

// A retrieved resource cannot be loaded by a page of another site, and runs no code in the origin of urnd.
func TestFieldsOfRetrievedResource(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Cookie", "Authorization", "Referer", "X-Secret"} {
			if r.Header.Get(name) != "" {
				t.Errorf("the origin gets %s", name)
			}
		}
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Strict-Transport-Security", "max-age=1")
		w.Header().Set("Content-Security-Policy", "script-src *")
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Refresh", "0;url=/fetch?uri=gopher://a.example/")
		w.Header().Set("Link", "</fetch?uri=gopher://a.example/>; rel=prefetch")
		fmt.Fprint(w, "<script>")
	}))
	defer origin.Close()
	s := start(t, withGopher)
	for location, policy := range map[string]string{
		origin.URL + "/":           "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
		"gopher://a.example/0text": "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
		"gopher://a.example/1": pages.New(pages.Site{}).In(pages.English).Listing(&scheme.Listing{},
			strings.ToLower).Policy,
	} {
		s.next = withLocations(location, location)
		for _, target := range retrievals(location) {
			response := s.get(t, target, "Cookie: c=d", "Authorization: Basic YTpi", "Referer: http://a/",
				"X-Secret: s")
			header := response.Header
			of := policy
			if strings.HasPrefix(header.Get("Content-Type"), "multipart/") {
				of = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
			}
			if response.StatusCode != 200 || header.Get("Content-Security-Policy") != of ||
				header.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
				header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Access-Control-Allow-Origin") != "" ||
				header.Get("Refresh") != "" ||
				header.Get("Link")+header.Get("Set-Cookie")+header.Get("Strict-Transport-Security") != "" ||
				header.Get("Referrer-Policy") == "" {
				t.Errorf("%s at %s: %d %v", target, location, response.StatusCode, header)
			}
		}
	}
}

// A server cannot redirect a reader to a server that trusts lines, nor to a target that is denied as the
// resource of a name.
func TestRedirectsOfFetchedResource(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
	}))
	defer origin.Close()
	s := start(t, func(c *proxy.Config) {
		withGopher(c)
		mux, _ := c.Fetch.(scheme.Mux)
		mux["file"], mux["news"] = mux["gopher"], mux["gopher"]
	})
	person := metadata("none", "navigate", "document", "Sec-Fetch-User: ?1")
	for _, tt := range []struct {
		to       string
		status   int
		location string
		then     int // the status for a user whose browser follows; 0 for the confirmation page
	}{
		{"/there", 302, fetchOf(origin.URL + "/there"), 502},
		{"gopher://b.example/0text", 302, fetchOf("gopher://b.example/0text") + "&led", 0},
		{"file:///0text", 403, "", 0},
		{"FILE:///0text", 403, "", 0},
		{"news:0text", 403, "", 0},
	} {
		from := origin.URL + "/?to=" + tt.to
		response := s.get(t, fetchOf(from), person...)
		if location := response.Header.Get("Location"); response.StatusCode != tt.status || location != tt.location {
			t.Errorf("%s: %d %s", tt.to, response.StatusCode, location)
		}
		if tt.location != "" && tt.then == 0 {
			if body := text(t, s.get(t, tt.location, person...)); !strings.Contains(body,
				`<a href="`+strings.TrimSuffix(tt.location,
					"&led")+`"><code dir="auto">`+tt.to+`</code>`) {
				t.Errorf("%s: %s", tt.location, body)
			}
			if program := s.get(t, tt.location); program.StatusCode != 200 {
				t.Errorf("%s: a program: %d", tt.location, program.StatusCode)
			}
			s.next = withLocations(from)
			if body := text(t, s.get(t, "/uri-res/N2R?urn:example:a", person...)); !strings.Contains(body,
				`<a href="`+fetchOf(tt.to)+`"><code dir="auto">`+tt.to+`</code>`) {
				t.Errorf("%s: the resource of a name: %s", tt.to, body)
			}
		}
	}
}

// A redirect to a name is followed to the location of the name.
func TestRedirectToName(t *testing.T) {
	s := start(t, withGopher)
	s.next = withLocations("gopher://a.example/1")
	person := metadata("none", "navigate", "document", "Sec-Fetch-User: ?1")
	if body := text(t, s.get(t, fetchOf("urn:example:b")+"&led", person...)); !strings.Contains(body,
		`<a href="`+fetchOf("gopher://a.example/1")+`">`) {
		t.Error(body)
	}
}

// No page of urnd may be framed: a URL can fill in its forms, and a click on them counts as user activation
// on a page of urnd (CSP Level 3 section 6.4.2).
func TestNoFrames(t *testing.T) {
	s := start(t, withGopher)
	s.next = withLocations("gopher://a.example/1")
	for _, target := range []string{
		"/", "/?uri=urn:example:a", "/urn:example:a", "/uri-res/N2L?urn:example:a", "/uri-res/N2Ls?urn:example:a",
		"/uri-res/N2R?urn:example:a",
		"/fetch", fetchOf("gopher://a.example/1"), fetchOf("nothing"), "/fetch?uri=https://user@evil.example/",
		"/nothing",
	} {
		for _, fields := range [][]string{
			metadata("cross-site", "navigate", "iframe"),
			metadata("same-origin", "navigate", "document"),
		} {
			header := s.get(t, target, fields...).Header
			if policy := header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, "frame-ancestors 'none'") {
				t.Errorf("%s: %q", target, policy)
			}
		}
	}
}

// The confirmation page of urnd is confirmed by a link that only that page can contain: it cannot be framed,
// and no form of another site can send it.
func TestPersonOpens(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		withGopher(c)
		mux, _ := c.Fetch.(scheme.Mux)
		mux["ftp"] = mux["gopher"]
	})
	s.next = withLocations("gopher://a.example/1")
	for _, target := range []string{
		fetchOf("gopher://a.example/1"), fetchOf("gopher://a.example/7a%09") + "&search=b+c",
		fetchOf("ftp://u:secret@a.example/"), "/uri-res/N2R?urn:example:a",
	} {
		response := s.get(t, target, agentField, acceptPage)
		if body := text(t, response); !strings.Contains(body, `<a href=""><code dir="auto">`) ||
			strings.Contains(body, "secret") {
			t.Errorf("%s: %s", target, body)
		}
		if header := response.Header; header.Get("Referrer-Policy") != "same-origin" ||
			!strings.Contains(header.Get("Content-Security-Policy"),
				"frame-ancestors 'none'") {
			t.Errorf("%s: %v", target, header)
		}
		if opened := s.get(t, target, agentField, acceptPage, "Referer: http://a"+target); opened.StatusCode != 200 {
			t.Errorf("%s: %d", target, opened.StatusCode)
		}
		for _, origin := range []string{"http://a", "http://evil.example", "null"} { // POST retrieves nothing
			head := "POST " + target + " HTTP/1.1\r\nHost: a\r\nOrigin: " + origin +
				"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n\r\n"
			if response := s.ask(t, head)[0]; response.StatusCode != 405 {
				t.Errorf("%s by POST of %s: %d", target, origin, response.StatusCode)
			}
		}
	}
}
