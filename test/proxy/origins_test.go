//go:build e2e

package proxy

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// nginxOrigin and apacheOrigin configure the same site.
func nginxOrigin() []string {
	return []string{
		`etag on;`,
		`location /packed/ { gzip on; gzip_vary on; gzip_proxied any; gzip_types text/plain; expires 1h; }`,
		`location /short/ { add_header Cache-Control no-cache; }`,
		`location /packedshort/ { gzip on; gzip_vary on; gzip_proxied any; gzip_types text/plain; add_header Cache-Control no-cache; }`,
		`location /slow/ { limit_rate 200k; }`,
		`location = /moved { add_header Cache-Control max-age=60 always; return 301 /file.bin; }`,
		`location /none/ { add_header Cache-Control max-age=60 always; }`,
	}
}

func apacheOrigin() []string {
	return []string{
		`<Location "/packed/">`, `SetOutputFilter DEFLATE`, `Header set Cache-Control max-age=3600`, `</Location>`,
		`<Location "/short/">`, `Header set Cache-Control no-cache`, `</Location>`,
		`<Location "/packedshort/">`, `SetOutputFilter DEFLATE`, `Header set Cache-Control no-cache`, `</Location>`,
		`<Location "/slow/">`, `SetOutputFilter RATE_LIMIT`, `SetEnv rate-limit 200`, `</Location>`,
		`Redirect permanent "/moved" "/file.bin"`,
		`<Location "/moved">`, `Header always set Cache-Control max-age=60`, `</Location>`,
		`<Location "/none/">`, `Header always set Cache-Control max-age=60`, `</Location>`,
	}
}

// site is a real origin with a client that uses it through urnd.
type site struct {
	*urndtest.Daemon
	folder string
	server *testserver.WebServer
	client *http.Client
}

// response is a response to a client with its undecoded body.
type response struct {
	*http.Response
	body []byte
	err  error // error of reading the body
}

// send sends a request "METHOD path" with fields, and returns the response.
func (s *site) send(t *testing.T, request string, fields ...string) response {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.server.Addr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		if name, value, ok := strings.Cut(field, ": "); ok {
			r.Header.Set(name, value)
		}
	}
	got, err := s.client.Do(r)
	if err != nil {
		t.Errorf("%s: %v", request, err)
		return response{Response: &http.Response{Header: http.Header{}}}
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	return response{got, body, err}
}

// clientOf returns a client of a proxy that decodes nothing and follows no redirects.
func clientOf(t *testing.T, proxy string) *http.Client {
	t.Helper()
	u, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		Proxy: func(*http.Request) (*url.URL, error) { return u, nil }, DisableCompression: true,
		MaxIdleConnsPerHost: 64,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// TestOrigins checks that responses of nginx and Apache are cached, validated and forwarded correctly.
func TestOrigins(t *testing.T) {
	t.Parallel()
	// Skipped by the subtest that needs them, because a subtest must not skip its parent.
	for name, start := range map[string]func(t *testing.T, folder string) *testserver.WebServer{
		"nginx": func(t *testing.T, folder string) *testserver.WebServer {
			t.Helper()
			return testserver.StartNginx(t, folder, nginxOrigin()...)
		},
		"Apache": func(t *testing.T, folder string) *testserver.WebServer {
			t.Helper()
			return testserver.StartApache(t, folder, apacheOrigin()...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{folder: testserver.OpenFolder(t)}
			s.server = start(t, s.folder)
			s.Daemon = urndtest.Start(t, noDNS, openTunnels)
			s.client = clientOf(t, s.URL)
			t.Run("steps", s.testSteps)
			t.Run("packed", s.testPacked)
			t.Run("slow", s.testSlow)
			t.Run("large", s.testLarge)
		})
	}
}

// testSteps sends requests in order.
func (s *site) testSteps(t *testing.T) {
	content, other, third := urndtest.RandomBytes(300_000), urndtest.RandomBytes(30_000), urndtest.RandomBytes(200_000)
	for path, file := range map[string][]byte{"file.bin": content, "part.bin": third, "short/file.bin": other} {
		urndtest.WriteOld(t, filepath.Join(s.folder, path), file)
	}
	for _, step := range []struct {
		request, field string
		status         int
		cache          string // regular expression
		body           []byte
	}{
		{"HEAD /file.bin", "", 200, `fwd=uri-miss`, nil},
		{"GET /file.bin", "", 200, `fwd=uri-miss; stored`, content},
		{"HEAD /file.bin", "", 200, `hit`, nil},
		{"GET /file.bin", "", 200, `hit`, content},
		{"GET /file.bin", "Range: bytes=7-1006", 206, `hit`, content[7:1007]},
		{"GET /file.bin", "Range: bytes=300000-", 416, `hit`, nil},
		{"GET /part.bin", "Range: bytes=0-999", 206, `fwd=uri-miss; stored`, third[:1000]},
		{"GET /part.bin", "Range: bytes=100-199", 206, `hit`, third[100:200]},
		{"GET /part.bin", "Range: bytes=1000-1999", 206, `fwd=partial`, third[1000:2000]},
		{"GET /part.bin", "", 200, `fwd=partial`, third},
		{"GET /part.bin", "", 200, `hit`, third},
		{"GET /part.bin", "Range: bytes=-10", 206, `hit`, third[199_990:]},
		{"GET /short/file.bin", "", 200, `fwd=uri-miss; stored`, other},
		{"GET /short/file.bin", "", 200, `fwd=stale; fwd-status=304; stored`, other},
		{"GET /short/file.bin", "Range: bytes=1-3", 206, `fwd=stale; fwd-status=304; stored`, other[1:4]},
		{"GET /moved", "", 301, `fwd=uri-miss; stored`, nil},
		{"GET /moved", "", 301, `hit`, nil},
		{"GET /none/at.all", "", 404, `fwd=uri-miss; stored`, nil},
		{"GET /none/at.all", "", 404, `hit`, nil},
	} {
		got := s.send(t, step.request, step.field)
		status := got.Header.Get("Cache-Status")
		if got.StatusCode != step.status || !regexp.MustCompile(`^urnd; `+step.cache+`($|;)`).MatchString(status) {
			t.Errorf("%s %s: %d, %s", step.request, step.field, got.StatusCode, status)
		}
		if got.err != nil || step.body != nil && !bytes.Equal(got.body, step.body) {
			t.Errorf("%s %s: %d bytes, %v", step.request, step.field, len(got.body), got.err)
		}
	}
	for line, want := range map[string]int{
		"GET /file.bin": 1, "HEAD /file.bin": 1, "GET /part.bin": 3, "GET /short/file.bin 200": 1,
		"GET /short/file.bin 304": 2, "GET /moved": 1, "GET /none/": 1,
	} {
		testserver.Wait(t, "the origin has answered "+line,
			func() bool { return requestsOf(t, s.server, line) >= want })
		if n := requestsOf(t, s.server, line); n != want {
			t.Errorf("%s: %d times, not %d:\n%s", line, n, want, strings.Join(s.server.Log(t), "\n"))
		}
	}
}

// testPacked checks that each client gets a coding that it accepts, also after the stored response was
// validated.
func (s *site) testPacked(t *testing.T) {
	text := []byte(strings.Repeat("some text\n", 4000))
	urndtest.WriteOld(t, filepath.Join(s.folder, "packed/text.txt"), text)
	urndtest.WriteOld(t, filepath.Join(s.folder, "packedshort/text.txt"), text)
	for _, path := range []string{"/packed/text.txt", "/packedshort/text.txt"} {
		for i, accept := range []string{"gzip", "identity", "gzip", "identity", "br;q=0.5, gzip", "identity", "gzip"} {
			got := s.send(t, "GET "+path, "Accept-Encoding: "+accept)
			plain := got.body
			if got.Header.Get("Content-Encoding") == "gzip" {
				if accept == "identity" {
					t.Errorf("%s %d: gzip for a client that does not accept it: %s", path, i, got.Header)
				}
				z, err := gzip.NewReader(bytes.NewReader(got.body))
				if err != nil {
					t.Errorf("%s %d: %v", path, i, err)
					continue
				}
				plain, _ = io.ReadAll(z) // errors are detected below
			} else if i == 0 {
				t.Errorf("%s is not compressed: %s", path, got.Header)
			}
			if !bytes.Equal(plain, text) || got.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s %d, %s: %d bytes, %s", path, i, accept, len(plain), got.Header)
			}
			if status := got.Header.Get("Cache-Status"); path == "/packed/text.txt" &&
				(i == 2 || i == 3 || i > 4) != strings.HasPrefix(status, "urnd; hit;") {
				t.Errorf("%s %d, %s: %s", path, i, accept, status)
			}
		}
	}
	if n := requestsOf(t, s.server, "GET /packedshort/text.txt 304"); n < 3 {
		t.Errorf("%d validations:\n%s", n, strings.Join(s.server.Log(t), "\n"))
	}
}

// testSlow checks that concurrent requests of two clients cause one request at the origin.
func (s *site) testSlow(t *testing.T) {
	content := urndtest.RandomBytes(150_000)
	urndtest.WriteOld(t, filepath.Join(s.folder, "slow/file.bin"), content)
	var clients sync.WaitGroup
	for range 5 {
		clients.Go(func() {
			if got := s.send(t, "GET /slow/file.bin"); !bytes.Equal(got.body, content) || got.err != nil {
				t.Errorf("%d bytes, %v, %s", len(got.body), got.err, got.Header)
			}
		})
	}
	clients.Wait()
	testserver.Wait(t, "the request is logged",
		func() bool { return requestsOf(t, s.server, "GET /slow/file.bin") > 0 })
	if n := requestsOf(t, s.server, "GET /slow/file.bin"); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// testLarge checks that a response larger than cache.max_response is forwarded and not stored.
func (s *site) testLarge(t *testing.T) {
	content := urndtest.RandomBytes(50 << 20)
	urndtest.WriteOld(t, filepath.Join(s.folder, "large.bin"), content)
	want := sha256.Sum256(content)
	before := scraped(t, s.Daemon, `urnd_cache_bytes\{cache="responses"\}`)
	for range 2 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.server.Addr()+"/large.bin",
			nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.New()
		n, err := io.Copy(hash, got.Body)
		got.Body.Close()
		if err != nil || [32]byte(hash.Sum(nil)) != want {
			t.Errorf("%d bytes, %v", n, err)
		}
		if status := got.Header.Get("Cache-Status"); !strings.HasPrefix(status, "urnd; fwd=uri-miss") {
			t.Errorf("%s", status)
		}
	}
	if grown := scraped(t, s.Daemon, `urnd_cache_bytes\{cache="responses"\}`) - before; grown > 1<<20 {
		t.Errorf("the cache has %.0f bytes more", grown)
	}
	waitBelow(t, s.Daemon, "go_memstats_heap_inuse_bytes", 48<<20)
}

// requestsOf returns the number of requests to a site with a prefix such as "GET /a".
func requestsOf(t *testing.T, s *testserver.WebServer, prefix string) (n int) {
	t.Helper()
	for _, line := range s.Log(t) {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}
