//go:build e2e

package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestCompression checks that pages of a site are compressed for clients that accept it, once for each coding,
// and that content compressed by nginx is forwarded unchanged.
func TestCompression(t *testing.T) {
	t.Parallel()
	folder := testserver.OpenFolder(t)
	server := testserver.StartNginx(t, folder, `etag on;`, `types { text/html html; } default_type text/html;`,
		`location / { gzip off; expires 1h; }`,
		`location /packed/ { gzip on; gzip_vary on; gzip_proxied any; gzip_min_length 20; expires 1h; }`,
		`location /short/ { gzip off; add_header Cache-Control no-cache; }`)
	text := []byte(strings.Repeat("<p>One paragraph of many.</p>\n", 4000))
	for _, path := range []string{"page.html", "packed/page.html", "short/page.html", "range.html"} {
		urndtest.WriteOld(t, filepath.Join(folder, path), text)
	}
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Compression.Codings = []string{"zstd", "br", "gzip"}
		c.Proxy.Sites = []config.Site{{Hosts: []string{"www.example"}, Servers: []string{"http://" + server.Addr()}}}
	})
	get := func(path string, fields ...string) response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "www.example"
		for _, field := range fields {
			name, value, _ := strings.Cut(field, ": ")
			r.Header.Set(name, value)
		}
		if r.Header.Get("Accept-Encoding") == "" {
			r.Header.Set("Accept-Encoding", "identity") // otherwise the transport requests gzip
		}
		got, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		body, err := io.ReadAll(got.Body)
		return response{got, body, err}
	}
	isPage := func(what string, got response, coding string) {
		t.Helper()
		plain, err := unpacked(got.Header.Get("Content-Encoding"), got.body)
		if got.err != nil || err != nil || got.Header.Get("Content-Encoding") != coding || !bytes.Equal(plain, text) {
			t.Errorf("%s: %d %v, %d bytes, %v, %v", what, got.StatusCode, got.Header, len(plain), got.err, err)
		}
	}
	for _, path := range []string{"/page.html", "/short/page.html"} {
		for round := range 3 {
			for accept, coding := range map[string]string{
				"gzip, deflate, br, zstd": "zstd", "br;q=1.0, gzip;q=0.8": "br", "gzip": "gzip", "identity": "",
				"gzip;q=0": "",
			} {
				got := get(path, "Accept-Encoding: "+accept)
				isPage(path+", "+accept, got, coding)
				if status := got.Header.Get("Cache-Status"); round > 0 && path == "/page.html" &&
					!strings.Contains(status, "; hit") {
					t.Errorf("%s, %s: %s", path, accept, status)
				}
				known := get(path, "Accept-Encoding: "+accept, "If-None-Match: "+got.Header.Get("Etag"))
				if known.StatusCode != http.StatusNotModified {
					t.Errorf("%s, %s: %d for what the client has", path, accept, known.StatusCode)
				}
			}
		}
	}
	isPage("packed by nginx", get("/packed/page.html", "Accept-Encoding: gzip"), "gzip")
	isPage("not packed by nginx", get("/packed/page.html", "Accept-Encoding: br"), "br")
	isPage("packed by nginx for a user", get("/packed/page.html", "Accept-Encoding: gzip, br", "Cookie: a=b"), "gzip")
	isPage("a user", get("/page.html", "Accept-Encoding: gzip, br", "Cookie: a=b"), "")
	for _, path := range []string{"/page.html", "/range.html"} {
		got := get(path, "Accept-Encoding: gzip, br", "Range: bytes=100-199")
		if got.StatusCode != http.StatusPartialContent || got.Header.Get("Content-Encoding") != "" ||
			!bytes.Equal(got.body, text[100:200]) {
			t.Errorf("a range of %s: %d %v", path, got.StatusCode, got.Header)
		}
		isPage("behind a range", get(path, "Accept-Encoding: gzip, br"), "br")
		isPage("behind a range", get(path, "Accept-Encoding: identity"), "")
	}
}

// unpacked returns decoded content.
func unpacked(coding string, body []byte) ([]byte, error) {
	packed := bytes.NewReader(body)
	switch coding {
	case "gzip":
		z, err := gzip.NewReader(packed)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	case "br":
		return io.ReadAll(brotli.NewReader(packed))
	case "zstd":
		z, err := zstd.NewReader(packed)
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return io.ReadAll(z)
	default:
		return body, nil
	}
}
