package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/compress"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/resolver/scheme"
)

// paragraphs is a page of a site, and plainTag its entity tag there.
var paragraphs = strings.Repeat("<p>One paragraph of many.</p>\n", 300)

const plainTag = `"v1"`

// plainSite is the server of a site. It compresses /packed only, and supports ranges and conditions.
type plainSite struct {
	now       func() time.Time
	mu        sync.Mutex
	requested []string // Accept-Encoding of each request
}

// Fetch implements scheme.Handler.
func (s *plainSite) Fetch(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requested = append(s.requested, r.Fields.List("Accept-Encoding"))
	body, status := paragraphs, http.StatusOK
	fields := httpmessage.NewFields("Date", s.now().UTC().Format(http.TimeFormat), "Cache-Control", "max-age=60",
		"Content-Type", "text/html")
	if r.URI.Path() == "/packed" {
		body = "packed"
		fields.Add("Content-Encoding", "br")
		fields.Add("Vary", "accept-encoding")
	} else {
		fields.Add("ETag", plainTag)
		fields.Add("Accept-Ranges", "bytes")
	}
	var first, last int
	switch _, err := fmt.Sscanf(r.Fields.Get("Range"), "bytes=%d-%d", &first, &last); {
	case slices.ContainsFunc(r.Fields.Values("If-Match"),
		func(l string) bool { return !strings.Contains(", "+l, ", "+plainTag) }):
		body, status = "", http.StatusPreconditionFailed
	case strings.Contains(r.Fields.Get("If-None-Match"), plainTag):
		body, status = "", http.StatusNotModified
	case err == nil:
		fields.Add("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(body)))
		body, status = body[first:last+1], http.StatusPartialContent
	}
	resource := &scheme.Resource{Response: httpmessage.Response{
		Status: status, Fields: fields, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}}
	if r.Method == http.MethodHead {
		resource.Fields.Add("Content-Length", fmt.Sprint(len(body)))
		resource.Body = http.NoBody
	}
	return resource, nil
}

// compressing returns a world that compresses, and its site.
func compressing(t testing.TB, withCredentials bool) (*world, *plainSite) {
	t.Helper()
	site := new(plainSite)
	w := newWorld(t, func(c *proxy.Config) {
		site.now = c.Now
		c.Fetch = scheme.Mux{"http": site}
		c.Compress = compress.New(compress.Config{
			Codings:         []string{compress.Zstd, compress.Brotli, compress.Gzip},
			Types:           []string{"text/*", "application/json", "application/*+json"},
			WithCredentials: withCredentials,
		})
	})
	return w, site
}

// plain returns the decoded content of a response.
func plain(t *testing.T, r *proxytest.Recorder) string {
	t.Helper()
	var d io.Reader = bytes.NewReader(r.Body.Bytes())
	var err error
	switch r.Fields.Get("Content-Encoding") {
	case compress.Zstd:
		z, newErr := zstd.NewReader(d, zstd.WithDecoderConcurrency(1))
		if err = newErr; err == nil {
			defer z.Close()
			d = z
		}
	case compress.Brotli:
		d = brotli.NewReader(d)
	case compress.Gzip:
		d, err = gzip.NewReader(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(d)
	if err != nil {
		t.Fatalf("%s: %v", r.Fields.Get("Content-Encoding"), err)
	}
	return string(text)
}

// ofSite sends a request for a path of the site.
func ofSite(w *world, method, path string, fields ...string) (*proxytest.Recorder, bool) {
	return w.ask(request(method, path, append(fields, "Host", "www.example")...))
}

const ofBrowser = "gzip, deflate, br, zstd"

// Each coding is one variant in the cache, which is compressed once, however clients spell Accept-Encoding.
func TestCompressedSite(t *testing.T) {
	w, site := compressing(t, false)
	accepted := []struct{ field, coding string }{
		{ofBrowser, "zstd"},
		{"zstd;q=0.9, gzip;q=0.8", "zstd"},
		{"br,gzip", "br"},
		{"br", "br"},
		{"gzip", "gzip"},
		{"gzip, deflate", "gzip"},
		{"identity", ""},
		{"deflate", ""},
		{"gzip;q=0", ""},
	}
	for range 2 {
		for _, a := range accepted {
			got, _ := ofSite(w, "GET", "/", "Accept-Encoding", a.field)
			tag := plainTag
			if a.coding != "" {
				tag = "W/" + tag
			}
			if got.Fields.Get("Content-Encoding") != a.coding || plain(t, got) != paragraphs ||
				got.Fields.Get("ETag") != tag ||
				!slices.Contains(got.Fields.Values("Vary"), "Accept-Encoding") ||
				got.Fields.Has("Accept-Ranges") != (a.coding == "") {
				t.Errorf("%s: %d %v", a.field, got.Status, got.Fields)
			}
			head, _ := ofSite(w, "HEAD", "/", "Accept-Encoding", a.field)
			if head.Fields.Get("Content-Encoding") != a.coding || head.Fields.Get("ETag") != tag {
				t.Errorf("HEAD, %s: %v", a.field, head.Fields)
			}
			known, started := ofSite(w, "GET", "/", "Accept-Encoding", a.field, "If-None-Match", tag)
			if known.Status != http.StatusNotModified || !started || known.Fields.Get("ETag") != tag {
				t.Errorf("%s: %d %v, by Begin: %t", a.field, known.Status, known.Fields, started)
			}
		}
	}
	if want := []string{"zstd", "br", "gzip", "identity"}; !slices.Equal(site.requested, want) {
		t.Errorf("the server was asked with %q, want %q", site.requested, want)
	}
	for _, a := range accepted {
		if _, started := ofSite(w, "GET", "/", "Accept-Encoding", a.field); !started {
			t.Errorf("%s: not answered by Begin", a.field)
		}
	}
}

// A stale variant is validated with the server, which knows nothing of codings, and remains encoded.
func TestCompressedValidation(t *testing.T) {
	w, site := compressing(t, false)
	for round := range 3 {
		for _, coding := range []string{"identity", "gzip", "br"} {
			got, _ := ofSite(w, "GET", "/", "Accept-Encoding", coding)
			if text := plain(t, got); text != paragraphs ||
				got.Fields.Get("Content-Encoding") != strings.TrimPrefix(coding, "identity") ||
				strings.HasPrefix(got.Fields.Get("ETag"), "W/") != (coding != "identity") {
				t.Errorf("round %d, %s: %d %v, %d bytes", round, coding, got.Status, got.Fields, len(text))
			}
		}
		w.pass(2 * time.Minute)
	}
	if len(site.requested) != 9 {
		t.Errorf("the server was asked %d times", len(site.requested))
	}
	// For a page that is not stored.
	got, _ := ofSite(w, "GET", "/other", "Accept-Encoding", "gzip", "If-None-Match", "W/"+plainTag)
	if got.Status != http.StatusNotModified || got.Fields.Get("ETag") != "W/"+plainTag {
		t.Errorf("a page that the client has: %d %v", got.Status, got.Fields)
	}
	for tag, want := range map[string]int{
		"W/" + plainTag: http.StatusOK, plainTag: http.StatusOK,
		`W/"v0"`: http.StatusPreconditionFailed,
	} {
		if got, _ := ofSite(w, "PUT", "/", "If-Match", tag); got.Status != want {
			t.Errorf("If-Match: %s: %d, want %d", tag, got.Status, want)
		}
	}
}

// A range applies to the content without a coding, and parts of it are never combined with an encoded form.
func TestRangesOfCompressed(t *testing.T) {
	for _, stored := range []string{"", "gzip", "identity"} {
		w, _ := compressing(t, false)
		if stored != "" {
			ofSite(w, "GET", "/", "Accept-Encoding", stored)
		}
		for range 2 {
			got, _ := ofSite(w, "GET", "/", "Accept-Encoding", ofBrowser, "Range", "bytes=0-99")
			if got.Status != http.StatusPartialContent || got.Fields.Has("Content-Encoding") ||
				got.Body.String() != paragraphs[:100] {
				t.Errorf("%q is stored: %d %v", stored, got.Status, got.Fields)
			}
		}
		for _, coding := range []string{"gzip", "identity", "gzip"} {
			if got, _ := ofSite(w, "GET", "/", "Accept-Encoding", coding); got.Status != http.StatusOK ||
				plain(t, got) != paragraphs ||
				got.Fields.Get("Content-Encoding") != strings.TrimPrefix(coding, "identity") {
				t.Errorf("%q and a part are stored: %d %v", stored, got.Status, got.Fields)
			}
		}
		got, _ := ofSite(w, "GET", "/", "Accept-Encoding", "gzip", "Range", "bytes=0-99", "If-Range", "W/"+plainTag)
		if got.Status != http.StatusOK || plain(t, got) != paragraphs {
			t.Errorf("If-Range with a weak tag: %d %v", got.Status, got.Fields)
		}
	}
}

// Requests with credentials get the response of the server as it is, and do not affect the responses of other clients.
func TestCompressedCredentials(t *testing.T) {
	for _, credentials := range [][]string{{"Cookie", "a=b"}, {"Authorization", "Basic YTpi"}} {
		for _, with := range []bool{false, true} {
			w, site := compressing(t, with)
			for range 2 {
				got, _ := ofSite(w, "GET", "/", append(credentials, "Accept-Encoding", "gzip, br")...)
				if encoded := got.Fields.Has("Content-Encoding"); encoded != with || plain(t, got) != paragraphs {
					t.Errorf("%s, with credentials: %t: %v", credentials, with, got.Fields)
				}
			}
			if want := map[bool]string{false: "br, gzip, identity;q=0.5", true: "br"}[with]; site.requested[0] != want {
				t.Errorf("%s: the server was asked with %q, want %q", credentials, site.requested[0], want)
			}
			if got, _ := ofSite(w, "GET", "/", "Accept-Encoding",
				"gzip, br"); got.Fields.Get("Content-Encoding") != "br" || plain(t, got) != paragraphs {
				t.Errorf("behind %s: %v", credentials, got.Fields)
			}
		}
	}
}

// Responses that the server has compressed, and those of servers that are no sites, are forwarded unchanged.
func TestNotCompressed(t *testing.T) {
	w, site := compressing(t, false)
	got, _ := ofSite(w, "GET", "/packed", "Accept-Encoding", "gzip, br")
	if got.Fields.Get("Content-Encoding") != "br" || got.Body.String() != "packed" ||
		len(got.Fields.Values("Vary")) != 1 {
		t.Errorf("%v %q", got.Fields, got.Body.String())
	}
	got, _ = w.ask(request("GET", "http://a.example/", "Accept-Encoding", ofBrowser))
	if got.Fields.Has("Content-Encoding") || got.Fields.Has("Vary") || got.Body.String() != paragraphs ||
		site.requested[len(site.requested)-1] != ofBrowser {
		t.Errorf("%v, the server was asked with %q", got.Fields, site.requested)
	}
	// A client of the proxy gets the same as a visitor.
	got, _ = w.ask(request("GET", "http://www.example/", "Accept-Encoding", ofBrowser))
	if got.Fields.Get("Content-Encoding") != "zstd" || plain(t, got) != paragraphs {
		t.Errorf("%v", got.Fields)
	}
	if _, started := w.ask(request("GET", "http://www.example/", "Accept-Encoding", ofBrowser)); !started {
		t.Error("a client of the proxy is not answered by Begin")
	}
}

// Pages and documents of urnd are compressed, redirects are not.
func TestCompressedDocuments(t *testing.T) {
	w, _ := compressing(t, false)
	for _, target := range []string{"/", "/api/v1/openapi.json", "/urn:example:none", "/robots.txt", cachedName} {
		fields := []string{"Accept", "text/html"}
		without, _ := w.ask(request("GET", target, fields...))
		large := without.Body.Len() >= 1<<10
		for _, coding := range []string{"zstd", "br", "gzip"} {
			got, _ := w.ask(request("GET", target, append(fields, "Accept-Encoding", coding)...))
			if target == "/api/v1/openapi.json" && coding == "gzip" { // it has a pre-rendered form
				large = true
			}
			if got.Status != without.Status || got.Fields.Has("Content-Encoding") != large ||
				len(plain(t, got)) != without.Body.Len() ||
				got.Fields.Get("Content-Length") != fmt.Sprint(got.Body.Len()) ||
				large != strings.Contains(got.Fields.List("Vary"), "Accept-Encoding") {
				if target != "/robots.txt" {
					t.Errorf("%s, %s: %d %v", target, coding, got.Status, got.Fields)
				}
			}
			head, _ := w.ask(request("HEAD", target, append(fields, "Accept-Encoding", coding)...))
			if head.Fields.Get("Content-Length") != got.Fields.Get("Content-Length") {
				t.Errorf("HEAD %s, %s: %v", target, coding, head.Fields)
			}
			cookie, _ := w.ask(request("GET", target, append(fields, "Accept-Encoding", coding, "Cookie", "a=b")...))
			if cookie.Fields.Has("Content-Encoding") && coding != "gzip" {
				t.Errorf("%s, %s with a cookie: %v", target, coding, cookie.Fields)
			}
			if tag := got.Fields.Get("ETag"); tag != "" {
				known, _ := w.ask(request("GET", target,
					append(fields, "Accept-Encoding", coding, "If-None-Match", tag)...))
				if known.Status != http.StatusNotModified || known.Fields.Get("ETag") != tag ||
					known.Fields.Has("Content-Encoding") {
					t.Errorf("%s, %s: %d %v", target, coding, known.Status, known.Fields)
				}
			}
		}
	}
}

// A cache hit on a compressed response does not allocate.
func TestCompressedHitAllocates(t *testing.T) {
	w, _ := compressing(t, false)
	config := w.config
	config.Observe = func(*proxy.Event) {}
	w.Handler = proxy.New(config)
	ofSite(w, "GET", "/", "Accept-Encoding", ofBrowser)
	in, out := request("GET", "/", "Host", "www.example", "Accept-Encoding", ofBrowser, "Accept", "*/*"), new(discard)
	if n := testing.AllocsPerRun(200, func() {
		if rest := w.Begin(in, out); rest != nil || out.status != http.StatusOK {
			t.Fatalf("%d", out.status)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
