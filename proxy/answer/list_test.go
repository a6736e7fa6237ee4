package answer_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

// RFC 2169 sections 3.2 and 3.6, RFC 2483 sections 4.2, 4.7 and 4.8: Accept selects the media type.
func TestLists(t *testing.T) {
	s := start(t, nil)
	s.next = withLocations("http://a.example/?b=1&c=2", "https://b.example/")
	const list = "http://a.example/?b=1&c=2\r\nhttps://b.example/\r\n"
	for _, tt := range []struct{ target, accept, contentType, body string }{
		{"/uri-res/N2Ls?urn:example:a", "*/*", "text/uri-list", "# urn:example:a\r\n" + list},
		{"/uri-res/i2LS?urn:example:a", "text/plain", "text/plain; charset=utf-8", list},
		{"/urn:example:a?s=I2Ls", "text/uri-list", "text/uri-list", "# urn:example:a?s=I2Ls\r\n" + list},
		{"/urn:example:a?s=I2Ls", "image/png", "text/uri-list", "# urn:example:a?s=I2Ls\r\n" + list},
		{
			"/uri-res/L2Ls?http://a.example/./c", "*/*", "text/uri-list",
			"# http://a.example/./c\r\nhttp://a.example/c\r\n",
		},
		{
			"/uri-res/N2Ns?urn:isbn:0-395-36341-1", "*/*", "text/uri-list",
			"# urn:isbn:0-395-36341-1\r\nurn:isbn:9780395363416\r\n",
		},
		{
			"/uri-res/I2N?urn:isbn:978-0-395-36341-6", "*/*", "text/uri-list",
			"# urn:isbn:978-0-395-36341-6\r\nurn:isbn:0395363411\r\n",
		},
		{"/uri-res/N2Ns?urn:isbn:979-12-200-0852-5", "text/plain", "text/plain; charset=utf-8", ""},
		{"/uri-res/L2Ns?http://a.example/", "*/*", "text/uri-list", "# http://a.example/\r\n"},
	} {
		response := s.get(t, tt.target, "Accept: "+tt.accept)
		if body := text(t, response); response.StatusCode != 200 ||
			response.Header.Get("Content-Type") != tt.contentType || body != tt.body ||
			response.Header.Get("Vary") != "Accept" || response.Header.Get("Cache-Control") == "" {
			t.Errorf("%s as %s: %d %v %q", tt.target, tt.accept, response.StatusCode, response.Header, body)
		}
	}
	page := text(t, s.get(t, "/uri-res/N2Ls?urn:example:a", "Accept: text/html"))
	if !strings.Contains(page, `<li><a href="http://a.example/?b=1&amp;c=2">http://a.example/?b=1&amp;c=2</a></li>`) {
		t.Errorf("as a page: %s", page)
	}
	page = text(t, s.get(t, "/uri-res/N2Ns?urn:isbn:0-395-36341-1", "Accept: text/html"))
	if !strings.Contains(page, `<a href="/urn:isbn:9780395363416">urn:isbn:9780395363416</a>`) {
		t.Errorf("names as a page: %s", page)
	}
	if page := text(t, s.get(t, "/uri-res/N2Ns?urn:example:a", "Accept: text/html")); !strings.Contains(page,
		"None is known") {
		t.Errorf("no names as a page: %s", page)
	}
	if response := s.get(t, "/uri-res/I2N?urn:example:a"); response.StatusCode != 404 {
		t.Errorf("a name without others: %d", response.StatusCode)
	}
	var document struct{ Locations []struct{ URI string } }
	if err := json.Unmarshal([]byte(text(t, s.get(t, "/uri-res/N2Ls?urn:example:a", "Accept: application/json"))),
		&document); err != nil || len(document.Locations) != 2 {
		t.Errorf("as JSON: %+v, %v", document, err)
	}
}

// Data of an authority about a name are added to those of urnd, and its negative answer is final: RFC 2169
// sections 3.5 and 3.6, RFC 3404 section 4.4.
func TestAuthority(t *testing.T) {
	s := start(t, nil)
	of := map[resolver.Service]resolver.Location{
		resolver.I2Ls: {URI: "http://a.example/", From: &resolver.Source{Name: "test"}},
		resolver.I2C: {
			URI:  "http://a.example/about",
			From: &resolver.Source{Name: "library", Type: "text/plain", Content: "a <book>\nof 1985"},
		},
		resolver.I2Ns: {URI: "urn:example:other", From: &resolver.Source{Name: "test"}},
	}
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{TTL: time.Minute, Locations: []resolver.Location{of[q.Service]}}, nil
	}
	if got := text(t, s.get(t, "/uri-res/N2Ns?urn:isbn:0-395-36341-1",
		"Accept: text/plain")); got != "urn:isbn:9780395363416\r\nurn:example:other\r\n" {
		t.Errorf("names: %q", got)
	}
	if got := text(t, s.get(t, "/uri-res/I2N?urn:example:a", "Accept: text/plain")); got != "urn:example:other\r\n" {
		t.Errorf("a name: %q", got)
	}
	var d struct {
		SubjectOf []struct{ URL, EncodingFormat, Text, Provider string }
	}
	if err := json.Unmarshal([]byte(text(t, s.get(t, "/uri-res/N2C?urn:example:a"))), &d); err != nil ||
		len(d.SubjectOf) != 1 ||
		d.SubjectOf[0].URL != "http://a.example/about" || d.SubjectOf[0].Text != "a <book>\nof 1985" ||
		d.SubjectOf[0].Provider != "library" {
		t.Errorf("description: %+v, %v", d, err)
	}
	if got := text(t, s.get(t, "/uri-res/N2C?urn:example:a", "Accept: text/plain")); !strings.Contains(got,
		"text: a <book> of 1985\r\n") {
		t.Errorf("as text: %q", got)
	}
	if got := text(t, s.get(t, "/uri-res/N2C?urn:example:a", "Accept: text/html")); !strings.Contains(got,
		"a &lt;book&gt;") {
		t.Errorf("as a page: %q", got)
	}
	for kind, status := range map[error]int{
		resolver.ErrNotFound: http.StatusNotFound,
		resolver.ErrGone:     http.StatusGone,
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{}, &resolver.Negative{Kind: kind, Reason: "the authority says so"}
		}
		for _, service := range []string{"N2C", "N2Ns", "I2N"} {
			if response := s.get(t, "/uri-res/"+service+"?urn:isbn:0-395-36341-1"); response.StatusCode != status {
				t.Errorf("%s: %d, want %d", service, response.StatusCode, status)
			}
		}
	}
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, resolver.ErrUnreachable
	}
	if response := s.get(t, "/uri-res/N2Ns?urn:isbn:0-395-36341-1"); response.StatusCode != http.StatusOK ||
		response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("names without their authority: %d %s", response.StatusCode, response.Header.Get("Cache-Control"))
	}
	if response := s.get(t, "/uri-res/N2Ns?urn:example:a"); response.StatusCode != http.StatusBadGateway {
		t.Errorf("no names without an authority: %d", response.StatusCode)
	}
}

// I2N is one name, or an error, also in a batch. Without an answer of the authority, it is unknown whether there is one.
func TestOneName(t *testing.T) {
	s := start(t, nil)
	names := []resolver.Location{
		{URI: "urn:example:one", From: &resolver.Source{Name: "test"}},
		{URI: "urn:example:two", From: &resolver.Source{Name: "test"}},
	}
	var failure error
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		if q.Service.Locates() {
			return resolver.Answer{TTL: time.Minute, Locations: names[:1]}, nil
		}
		return resolver.Answer{TTL: time.Minute, Locations: names}, failure
	}
	expect := func(status int, list, line string) {
		t.Helper()
		response := s.get(t, "/uri-res/I2N?urn:example:a", "Accept: text/plain")
		if got := text(t, response); response.StatusCode != status || list != "" && got != list {
			t.Errorf("%d %q, want %d %q", response.StatusCode, got, status, list)
		}
		if _, lines := s.batch(t, "?service=I2N", "text/plain", "urn:example:a"); len(lines) != 1 ||
			!strings.Contains(lines[0], line) {
			t.Errorf("in a batch: %q, want %s", lines, line)
		}
	}
	expect(http.StatusOK, "urn:example:one\r\n", `"names":["urn:example:one"]`)
	names = names[:1]
	names[0].URI = "urn:example:a"
	expect(http.StatusNotFound, "", `"status":404`)
	failure = resolver.ErrUnreachable
	expect(http.StatusBadGateway, "", `"status":502`)
}

// RFC 2169 sections 3.2, 3.5, 3.6 and 3.9: media types and freshness lifetimes.
func TestTypesAndFreshness(t *testing.T) {
	s := start(t, nil)
	s.next = withLocations("http://a.example/", "http://b.example/")
	const (
		fragment = "<ul>\n<li><a href=\"http://a.example/\">http://a.example/</a></li>\n<li><a " +
			"href=\"http://b.example/\">http://b.example/</a></li>\n</ul>"
		// RFC 2483 section 5: a list has one comment, and one URI per line.
		list = "# urn:x1:a\r\nhttp://a.example/\r\nhttp://b.example/\r\n"
	)
	for _, tt := range []struct{ target, accept, contentType, control, part string }{
		{"N2Ls?urn:x1:a", "text/html", "text/html; charset=utf-8", "max-age=60", fragment},
		{"N2Ls?urn:x1:a", "text/html;q=0.5, text/uri-list", "text/uri-list", "max-age=60", list},
		{"I2LS?urn:x1:a", "application/pdf", "text/uri-list", "max-age=60", list},
		{"N2Ns?urn:isbn:0-395-36341-1", "*/*", "text/uri-list", "max-age=60", "urn:isbn:9780395363416\r\n"},
		{
			"I2NS?urn:isbn:0-395-36341-1", "text/plain", "text/plain; charset=utf-8", "max-age=60",
			"urn:isbn:9780395363416\r\n",
		},
		{
			"L2Ns?http://a.example/", "text/html", "text/html; charset=utf-8", "max-age=3600",
			"<ul>\n<li>None is known.</li>\n</ul>",
		},
		{
			"N2C?urn:x1:a", "text/csv", "text/csv; charset=utf-8; header=present", "max-age=60",
			"identifier,urn:x1:a\r\n",
		},
		{
			"N2C?urn:x1:a", "text/csv;q=0.1, text/html", "text/html; charset=utf-8", "max-age=60",
			"<code dir=\"auto\">urn:x1:a</code>",
		},
		{"I2CS?urn:x1:a", "image/png", "application/ld+json", "max-age=60", `"identifier": "urn:x1:a"`},
		{"L2C?HTTP://A.example", "*/*", "application/ld+json", "no-store", `"identifier": "http://a.example/"`},
	} {
		r := s.get(t, "/uri-res/"+tt.target, "Accept: "+tt.accept)
		body := text(t, r)
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != tt.contentType ||
			!strings.HasPrefix(r.Header.Get("Cache-Control"),
				tt.control) || !strings.Contains(body, tt.part) {
			t.Errorf("%s as %s: %d %v %s", tt.target, tt.accept, r.StatusCode, r.Header, body)
		}
	}
	s.next = withLocations() // zero or more, RFC 2483 section 4.2
	if r := s.get(t, "/uri-res/N2Ls?urn:x1:a"); r.StatusCode != 200 || text(t, r) != "# urn:x1:a\r\n" {
		t.Errorf("no URLs: %d", r.StatusCode)
	}
}
