//go:build e2e

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// squidOrigin is the server behind Squid. It responds with the requested target, and its responses are
// cacheable.
type squidOrigin struct {
	*httptest.Server
	lock     sync.Mutex
	requests []string // request-targets
}

func startSquidOrigin(t *testing.T) *squidOrigin {
	t.Helper()
	o := &squidOrigin{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.lock.Lock()
		defer o.lock.Unlock()
		o.requests = append(o.requests, r.RequestURI)
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, r.RequestURI)
	}))
	t.Cleanup(o.Close)
	return o
}

// targets returns the requests since the last call.
func (o *squidOrigin) targets() string {
	o.lock.Lock()
	defer o.lock.Unlock()
	requested := strings.Join(o.requests, " ")
	o.requests = nil
	return requested
}

// throughSquid sends a request "METHOD TARGET" unmodified, because no client sends a URN.
func throughSquid(s *testserver.Squid, request string) (status int, location, body string, err error) {
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		return 0, "", "", err
	}
	defer conn.Close()
	method, _, _ := strings.Cut(request, " ")
	fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n", request)
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return 0, "", "", err
	}
	defer response.Body.Close()
	if method == http.MethodConnect { // the tunnel does not end
		return response.StatusCode, "", "", nil
	}
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header.Get("Location"), string(text), err
}

// openProgram returns a folder with the program, which the user of Squid can run.
func openProgram(t *testing.T) string {
	t.Helper()
	testserver.Need(t, "squid")
	dir := testserver.OpenFolder(t)
	if err := os.WriteFile(filepath.Join(dir, "urnd"), []byte(urndtest.ReadFile(t, urndtest.Binary(t))),
		0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// helperConfig writes a configuration with a namespace "book" whose names resolve to origin, and an unavailable
// DNS server.
func helperConfig(t *testing.T, dir, origin string) string {
	t.Helper()
	path := filepath.Join(dir, "urnd.yaml")
	text := "dns: {servers: ['127.0.0.1:9'], timeout: 1s, rounds: 1}\nnamespaces:\n" +
		"  - {nid: book, order: [namespace], targets: [{pattern: '^[0-9]+$', template: '" + origin +
		"/books/{nss}'}, {pattern: '^[0-9]+$', template: 'https://mirror.example/{nss}'}]}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// startSquidWith starts Squid with the lines of docs/squid.md for a helper, after the usual ACLs, for the
// binary in dir.
func startSquidWith(t *testing.T, dir, helper, origin string, concurrency int) *testserver.Squid {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(urndtest.Root(), "docs/squid.md"))
	if err != nil {
		t.Fatal(err)
	}
	place := strings.NewReplacer(
		"/usr/bin/urnd helper "+helper, dir+"/urnd helper "+helper+" --config "+helperConfig(t, dir, origin),
		"concurrency=64", fmt.Sprintf("concurrency=%d", concurrency),
	)
	for _, block := range regexp.MustCompile("(?s)```squid\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if lines := place.Replace(block[1]); strings.Contains(lines, dir) {
			return testserver.StartSquid(t, testserver.OpenFolder(t), "acl localnet src 127.0.0.1",
				"acl Safe_ports port 80 443 1025-65535", lines,
				"http_access deny !Safe_ports")
		}
	}
	t.Fatalf("docs/squid.md has no configuration for %s", helper)
	return nil
}

// TestSquidRewritesURLs checks that Squid redirects clients that request URNs, and requests normalized URLs
// from servers.
func TestSquidRewritesURLs(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{0, 64} {
		t.Run(fmt.Sprintf("concurrency=%d", concurrency), func(t *testing.T) {
			t.Parallel()
			dir := openProgram(t)
			origin := startSquidOrigin(t)
			s := startSquidWith(t, dir, "url-rewrite", origin.URL, concurrency)
			for _, tt := range []struct {
				request   string
				status    int
				location  string
				requested string // of the origin
			}{
				{"GET urn:book:42", 302, origin.URL + "/books/42", ""},
				{"GET URN:Book:42?=a=b", 302, origin.URL + "/books/42?a=b", ""},
				{"HEAD urn:book:42", 302, origin.URL + "/books/42", ""},
				{"GET " + origin.URL + "/books/42", 200, "", "/books/42"},
				// Squid itself must not resolve a URN without a location: it would connect to a server named
				// like the NID.
				{"GET urn:book:x", 403, "", ""},
				{"GET urn:localhost:x", 403, "", ""},
				{"GET urn:book:x%22%5C", 403, "", ""},
				{"GET " + origin.URL + "/b/../%7Esmith?%3d", 200, "", "/~smith?%3D"},
				{"GET " + strings.ToUpper(origin.URL) + "/urn:ISBN:1", 200, "", "/urn:ISBN:1"},
				{"GET " + origin.URL + `/a|"\b`, 200, "", "/a%7C%22%5Cb"}, // encoded form of an invalid URI
				{"POST " + origin.URL + "/%7e", 200, "", "/~"},
				{"CONNECT " + strings.TrimPrefix(origin.URL, "http://"), 200, "", ""},
				{"GET " + origin.URL + "/after", 200, "", "/after"}, // the helper is still running
			} {
				status, location, _, err := throughSquid(s, tt.request)
				if requested := origin.targets(); err != nil || status != tt.status || location != tt.location ||
					requested != tt.requested {
					t.Errorf("%s: %d, %q, the origin is asked for %q, %v", tt.request, status, location, requested, err)
				}
			}
			// Squid logs errors of the helper and its servers.
			if log := s.Log(); !strings.Contains(log, "querying localhost.urn.arpa. NAPTR") ||
				strings.Contains(log, "ERROR: URL-rewrite produces invalid") {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// TestSquidAsksConcurrently checks that each of many clients gets the response to its own request.
func TestSquidAsksConcurrently(t *testing.T) {
	t.Parallel()
	s := startSquidWith(t, openProgram(t), "url-rewrite", "https://books.example", 64)
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for i := range 25 {
				n := 100*client + i
				status, location, _, err := throughSquid(s, fmt.Sprintf("GET urn:book:%d", n))
				if want := fmt.Sprintf("https://books.example/books/%d", n); err != nil || status != 302 ||
					location != want {
					t.Errorf("%d, %q, want %q, %v", status, location, want, err)
				}
			}
		})
	}
	clients.Wait()
}

// TestSquidStoresByKey checks that equivalent URLs share an entry of Squid's cache, and that the server
// receives the original URL.
func TestSquidStoresByKey(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{0, 64} {
		t.Run(fmt.Sprintf("concurrency=%d", concurrency), func(t *testing.T) {
			t.Parallel()
			dir := openProgram(t)
			origin := startSquidOrigin(t)
			s := startSquidWith(t, dir, "store-id", origin.URL, concurrency)
			for _, path := range []string{
				"/a/../%7Esmith", "/~smith", "/%7esmith", "/b/./../~smith", "/smith", `/|`,
				`/|`,
			} {
				if status, _, _, err := throughSquid(s, "GET "+origin.URL+path); err != nil || status != 200 {
					t.Errorf("%s: %d, %v", path, status, err)
				}
			}
			if requested := origin.targets(); requested != "/a/../%7Esmith /smith /|" {
				t.Errorf("the origin is asked for %q", requested)
			}
			if log := s.Log(); strings.Contains(log, "ERROR") {
				t.Errorf("log: %s", log)
			}
		})
	}
}
