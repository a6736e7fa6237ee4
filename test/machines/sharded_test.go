//go:build e2e

package machines

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// countingOrigin is an origin that counts requests.
type countingOrigin struct {
	*httptest.Server
	mu       sync.Mutex
	requests map[string]int // by path and query
}

func startCountingOrigin(t *testing.T) *countingOrigin {
	t.Helper()
	o := &countingOrigin{requests: make(map[string]int)}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.requests[r.URL.RequestURI()]++
		o.mu.Unlock()
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = io.WriteString(w, r.URL.RequestURI())
	}))
	t.Cleanup(o.Close)
	return o
}

// take returns the number of requests for each URL since the last call.
func (o *countingOrigin) take() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	requested := maps.Clone(o.requests)
	clear(o.requests)
	return requested
}

// startShard runs one of several instances.
func startShard(t *testing.T) *fileDaemon {
	t.Helper()
	addresses := freeAddresses(t, 2)
	return start(t, fmt.Sprintf("listen: {service: '%s', admin: '%s', proxy_protocol: [127.0.0.1]}", addresses[0],
		addresses[1]),
		"cache: {answers: 1MiB, records: 1MiB, responses: 16MiB, max_response: 1MiB}")
}

// shardingFront runs HAProxy with the configuration of docs/scale.md for these instances. It returns its
// address, and a function that returns the number of available instances.
func shardingFront(t *testing.T, shards []*fileDaemon) (front string, up func() int) {
	t.Helper()
	folder, front, statistics := testserver.OpenFolder(t), freeAddress(t), freeAddress(t)
	document, err := os.ReadFile(filepath.Join(urndtest.Root(), "docs", "scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(document), "```haproxy\n")
	text, _, ended := strings.Cut(text, "```")
	servers := regexp.MustCompile(`(?m)^    server (\w+) .*\n`).FindAllStringSubmatch(text, -1)
	if !found || !ended || len(servers) < len(shards) {
		t.Fatalf("docs/scale.md has no HAProxy of %d servers:\n%s", len(shards), text)
	}
	for i, server := range servers {
		line := ""
		if i < len(shards) {
			_, port, _ := strings.Cut(shards[i].admin, ":")
			line = fmt.Sprintf("    server %s %s port %s\n", server[1], strings.TrimPrefix(shards[i].url, "http://"),
				port)
		}
		text = strings.Replace(text, server[0], line, 1)
	}
	text = strings.Replace(text, "bind :3128", "bind "+front, 1) +
		fmt.Sprintf("frontend statistics\n    bind %s\n    stats enable\n    stats uri /\n", statistics)
	file := filepath.Join(folder, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { // HAProxy runs as another user
		t.Fatal(err)
	}
	testserver.StartFront(t, folder, "haproxy", front, "-db", "-f", file)
	return front, func() int { return strings.Count(readStatistics(t, statistics), ",UP,") - 1 } // without the backend
}

// fetchAll requests all URLs from a proxy with several clients, repeatedly, and returns the failures.
func fetchAll(proxy string, urls []string, times int) []string {
	const clients = 16
	transport := &http.Transport{
		Proxy:               http.ProxyURL(&url.URL{Scheme: "http", Host: proxy}),
		MaxIdleConnsPerHost: clients,
	}
	defer transport.CloseIdleConnections()
	var next atomic.Int64
	var mu sync.Mutex
	var failed []string
	var fetching sync.WaitGroup
	for range clients {
		fetching.Go(func() {
			for n := int(next.Add(1)) - 1; n < times*len(urls); n = int(next.Add(1)) - 1 {
				if failure := fetchOne(transport, urls[n%len(urls)]); failure != "" {
					mu.Lock()
					failed = append(failed, failure)
					mu.Unlock()
				}
			}
		})
	}
	fetching.Wait()
	return failed
}

func fetchOne(transport *http.Transport, address string) string {
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return err.Error()
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.HasSuffix(address, string(body)) {
		return fmt.Sprintf("%s: %s, %q, %v", address, response.Status, body, err)
	}
	return ""
}

// TestShardedCache checks that three instances behind the HAProxy of docs/scale.md fetch each URL once, like a
// single instance. When one is killed no request fails, and only its URLs are fetched again.
func TestShardedCache(t *testing.T) {
	t.Parallel()
	testserver.Need(t, "haproxy")
	origin := startCountingOrigin(t)
	var urls []string
	for n := range 300 {
		urls = append(urls, fmt.Sprintf("%s/%d", origin.URL, n/2)+[]string{"", "?page=2"}[n%2])
	}
	var shards []*fileDaemon
	for range 3 {
		shards = append(shards, startShard(t))
	}
	for _, instances := range []int{1, 3} {
		if instances == 3 { // the first one has cached all of them
			shards[0].stop(t)
			shards[0] = startShard(t)
		}
		front, up := shardingFront(t, shards[:instances])
		testserver.Wait(t, "HAProxy sees all instances", func() bool { return up() == instances })
		if failed := fetchAll(front, urls, 4); len(failed) > 0 {
			t.Errorf("%d of %d requests to %d instances failed, such as %s", len(failed), 4*len(urls), instances,
				failed[0])
		}
		for at, times := range origin.take() {
			if times != 1 {
				t.Errorf("%d instances have fetched %s %d times", instances, at, times)
			}
		}
		if instances == 3 {
			loseShard(t, shards[1], origin, front, urls, up)
		}
	}
}

// loseShard kills an instance during requests, and compares the URLs fetched again with its cache.
func loseShard(t *testing.T, lost *fileDaemon, origin *countingOrigin, front string, urls []string, up func() int) {
	t.Helper()
	failed := make(chan []string)
	go func() { failed <- fetchAll(front, urls, 20) }()
	_ = lost.end(os.Kill)
	if failures := <-failed; len(failures) > 0 {
		t.Errorf("%d of %d requests failed, such as %s", len(failures), 20*len(urls), failures[0])
	}
	testserver.Wait(t, "HAProxy has noticed", func() bool { return up() == 2 })
	if failures := fetchAll(front, urls, 1); len(failures) > 0 {
		t.Errorf("%d requests failed, such as %s", len(failures), failures[0])
	}
	moved := origin.take()
	t.Logf("%d of %d URLs were fetched again", len(moved), len(urls))
	if len(moved) == 0 || len(moved) > len(urls)/2 {
		t.Errorf("%d of %d URLs were fetched again", len(moved), len(urls))
	}
	for at, times := range moved {
		if times > 2 { // until HAProxy detects it, other instances may be used
			t.Errorf("%s was fetched %d times", at, times)
		}
	}
}
