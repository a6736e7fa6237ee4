package proxy_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

const mebibyte = 1 << 20

// memoryOf returns a quota of so many bytes, of which a client may use a quarter.
func memoryOf(size int) *quota.Memory {
	const share = 4
	units := size / quota.MemoryUnit
	return quota.NewMemory(quota.Limit{
		Semaphore: make(quota.Semaphore, units),
		Clients:   quota.NewClientLimits(units/share, units/share, resolver.ErrBusy),
		Busy:      problem.ErrDocuments,
	})
}

// large is a scheme.Handler of menus of about 9 MB: more than the socket buffers hold for a client that does not read.
func large(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	items := make([]scheme.Item, 10_000)
	for i := range items {
		items[i] = scheme.Item{Kind: scheme.ItemInfo, Name: strings.Repeat("a", 850)}
	}
	return scheme.ListingResource(&scheme.Listing{
		Kind: scheme.KindMenu, Title: "t", URI: r.URI.String(),
		Items: items,
	}), nil
}

// startLarge starts a server of large menus with 256 MiB for documents.
func startLarge(t *testing.T, secure *tls.Config) (*server, *quota.Memory) {
	memory := memoryOf(256 * mebibyte)
	return startOn(t, secure, func(c *proxy.Config) {
		c.Fetch = scheme.Mux{"gopher": handlerFunc(large), "http": handlerFunc(large)}
		c.ListingSize = 12 * mebibyte
		c.DocumentMemory, c.ListingTTL, c.Forward.Accept = memory, time.Minute, answer.ListingAccept
		c.Forward.Fetches = quota.Limit{Semaphore: make(quota.Semaphore, 1024)}
	}, func(c *engine) { // many start at the same time
		c.listen.ReadHeaderTimeout, c.protocols.ReadHeaderTimeout, c.protocols.IdleTimeout = testserver.Timeout,
			testserver.Timeout, testserver.Timeout
	}), memory
}

// heap returns the bytes in use after a garbage collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// idleReader requests a menu from a local address, reads the beginning of the response and then stops, and
// returns its status.
func (s *server) idleReader(t *testing.T, from string, number int, accept string) string {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := dialer.DialContext(t.Context(), "tcp", s.addr)
	if err != nil {
		t.Error(err)
		return ""
	}
	t.Cleanup(func() { c.Close() })
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	_ = c.SetDeadline(time.Now().Add(testserver.Timeout))
	head := make([]byte, len("HTTP/1.1 200"))
	if _, err = fmt.Fprintf(c,
		"GET /fetch?uri=gopher://h.example/1/%d HTTP/1.1\r\nHost: a\r\nReferer: http://a/\r\nAccept: %s\r\n\r\n",
		number,
		accept); err == nil {
		_, err = io.ReadFull(c, head)
	}
	if err != nil {
		t.Error(err)
	}
	return string(head[len("HTTP/1.1 "):])
}

// Clients that stop reading use a bounded amount of memory: each client its share, in every format.
func TestReadersThatReadNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	s, memory := startLarge(t, nil)
	before := heap()
	accepts := []string{"text/html", "application/json", "text/plain", "application/linkset+json"}
	var readers sync.WaitGroup
	var mu sync.Mutex
	statuses := make(map[string]int)
	for i := range 150 {
		readers.Go(func() {
			status := s.idleReader(t, "127.0.0.1", i, accepts[i%len(accepts)])
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	readers.Wait()
	used := heap() - before
	t.Logf("%v, %d MiB in use", statuses, used/mebibyte)
	if statuses["200"] < 4 || statuses["503"] < 50 || statuses["200"]+statuses["503"] != 150 {
		t.Errorf("%v", statuses)
	}
	if used > 128*mebibyte || len(memory.Limit().Semaphore) > cap(memory.Limit().Semaphore)/4 {
		t.Errorf("%d MiB are in use, %d of %d slots", used/mebibyte, len(memory.Limit().Semaphore),
			cap(memory.Limit().Semaphore))
	}
	if status := s.idleReader(t, "127.0.0.2", 1000, "text/html"); status != "200" {
		t.Errorf("another client: %s", status)
	}
}

// A refusal has a reason and Retry-After. Memory is released when a client disconnects, has read all, sends
// HEAD, or gets 304.
func TestMemoryIsGivenBack(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	s, memory := startLarge(t, nil)
	empty := func(what string) {
		t.Helper()
		testserver.Wait(t, "the memory is given back: "+what, func() bool { return len(memory.Limit().Semaphore) == 0 })
	}
	var etag string
	for i, fields := range [][]string{{}, {"Accept: application/json"}, {"Accept: text/plain"}} {
		response := s.get(t, "/fetch?uri=gopher://h.example/1/", fields...)
		if n := len(text(t, response)); n < mebibyte || response.StatusCode != 200 {
			t.Fatalf("%s, %d bytes", response.Status, n)
		}
		if i == 0 {
			etag = response.Header.Get("Etag")
		}
		empty("a reader")
	}
	if response := s.get(t, "/fetch?uri=gopher://h.example/1/", "If-None-Match: "+etag); response.StatusCode != 304 {
		t.Errorf("%s", response.Status)
	}
	empty("304")
	s.ask(t, "HEAD /fetch?uri=gopher://h.example/1/ HTTP/1.1\r\nHost: a\r\n\r\n")
	empty("HEAD")
	left := s.dial(t)
	left.send(t, "GET /fetch?uri=gopher://h.example/1/ HTTP/1.1\r\nHost: a\r\n\r\n")
	left.head(t)
	left.Close()
	empty("who leaves")

	for len(memory.Limit().Semaphore) < cap(memory.Limit().Semaphore) { // other clients use all of it
		memory.Limit().Semaphore <- struct{}{}
	}
	for _, target := range []string{"/fetch?uri=gopher://h.example/1/", "gopher://h.example/1/"} {
		response := s.get(t, target)
		if body := text(t, response); response.StatusCode != 503 || response.Header.Get("Retry-After") == "" ||
			!strings.Contains(body, "limits.documents") {
			t.Errorf("%s: %s %v %.300s", target, response.Status, response.Header, body)
		}
	}
}

// The same by HTTP/2, with flow-control windows that are never opened.
func TestReadersThatReadNothingByHTTP2(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	s, memory := startLarge(t, certificate(t))
	before := heap()
	statuses := make(map[int]int)
	var readers sync.WaitGroup
	var mu sync.Mutex
	for i := range 60 {
		readers.Go(func() {
			transport := s.client2(t, "a")
			transport.HTTP2 = &http.HTTP2Config{
				MaxReceiveBufferPerStream:     16 << 10,
				MaxReceiveBufferPerConnection: 64 << 10,
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
				fmt.Sprintf("https://a/fetch?uri=gopher://h.example/1/%d", i), http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			response, err := transport.RoundTrip(r)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { response.Body.Close() })
			mu.Lock()
			defer mu.Unlock()
			statuses[response.StatusCode]++
		})
	}
	readers.Wait()
	used := heap() - before
	t.Logf("%v, %d MiB in use", statuses, used/mebibyte)
	if statuses[200] < 4 || statuses[503] < 20 || used > 128*mebibyte ||
		len(memory.Limit().Semaphore) > cap(memory.Limit().Semaphore)/4 {
		t.Errorf("%v, %d MiB, %d slots", statuses, used/mebibyte, len(memory.Limit().Semaphore))
	}
}

// Long lists of locations count as documents.
func TestMemoryOfLists(t *testing.T) {
	memory := memoryOf(4 * mebibyte)
	s := start(t, func(c *proxy.Config) { c.DocumentMemory = memory })
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		locations := make([]resolver.Location, 2000)
		for i := range locations {
			locations[i] = resolver.Location{
				URI:  fmt.Sprintf("https://a.example/%d/%s", i, strings.Repeat("a", 100)),
				From: &resolver.Source{Name: "test"},
			}
		}
		return resolver.Answer{Locations: locations, TTL: time.Minute}, nil
	}
	if response := s.get(t, "/uri-res/N2Ls?urn:example:a"); response.StatusCode != 200 ||
		len(text(t, response)) < 200_000 {
		t.Errorf("%s", response.Status)
	}
	testserver.Wait(t, "the memory is given back", func() bool { return len(memory.Limit().Semaphore) == 0 })
	for len(memory.Limit().Semaphore) < cap(memory.Limit().Semaphore) {
		memory.Limit().Semaphore <- struct{}{}
	}
	if response := s.get(t, "/uri-res/N2Ls?urn:example:a"); response.StatusCode != 503 ||
		!strings.Contains(text(t, response), "limits.documents") {
		t.Errorf("%s", response.Status)
	}
	if response := s.get(t, "/uri-res/N2L?urn:example:a"); response.StatusCode != 303 && response.StatusCode != 302 {
		t.Errorf("a short one: %s", response.Status)
	}
}

// Many small answers count like few large ones: 1000 of 60 KiB that no client reads.
func TestMemoryOfSmallLists(t *testing.T) {
	memory := memoryOf(16 * mebibyte)
	s := startOn(t, certificate(t), func(c *proxy.Config) { c.DocumentMemory = memory })
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		locations := make([]resolver.Location, 450)
		for i := range locations {
			locations[i] = resolver.Location{
				URI:  fmt.Sprintf("https://a.example/%d/%s", i, strings.Repeat("a", 100)),
				From: &resolver.Source{Name: "test"},
			}
		}
		return resolver.Answer{Locations: locations, TTL: time.Minute}, nil
	}
	statuses := make(map[int]int)
	for range 4 { // connections, each with fewer streams than a server allows
		transport := s.client2(t, "a")
		transport.HTTP2 = &http.HTTP2Config{
			MaxReceiveBufferPerStream:     16 << 10,
			MaxReceiveBufferPerConnection: 64 << 10,
		}
		for range 50 {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://a/uri-res/N2Ls?urn:example:a",
				http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { response.Body.Close() })
			statuses[response.StatusCode]++
		}
	}
	if used := len(memory.Limit().Semaphore); statuses[200] != cap(memory.Limit().Semaphore)/4 ||
		statuses[503] != 200-statuses[200] || used != statuses[200] {
		t.Errorf("%v, %d of %d slots", statuses, used, cap(memory.Limit().Semaphore))
	}
}

// Requests of many clients behind one address wait for each other if their share has no memory left, and all succeed.
func TestDocumentsWaitForEachOther(t *testing.T) {
	s := startOn(t, nil, func(c *proxy.Config) {
		c.Fetch = scheme.Mux{"gopher": handlerFunc(func(context.Context, scheme.Request) (*scheme.Resource, error) {
			return scheme.ListingResource(&scheme.Listing{
				Kind: scheme.KindMenu, Title: "t",
				URI: "gopher://h.example/1/",
			}), nil
		})}
		c.ListingSize, c.DocumentWait = 4*mebibyte, testserver.Timeout
		c.DocumentMemory, c.ListingTTL, c.Forward.Accept = memoryOf(32*mebibyte), time.Minute, answer.ListingAccept
		c.Forward.Fetches = quota.Limit{Semaphore: make(quota.Semaphore, 1024)}
	})
	var readers sync.WaitGroup
	for i := range 64 {
		readers.Go(func() {
			if status := s.idleReader(t, "127.0.0.1", i, "text/plain"); status != "200" {
				t.Errorf("%s", status)
			}
		})
	}
	readers.Wait()
}
