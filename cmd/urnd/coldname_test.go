package main

import (
	"net/http"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/urnd/urnd/config"
)

// coldClient is a tcpClient whose requests are all for new names.
type coldClient struct {
	*tcpClient
	next int
}

// newColdClient returns a coldClient for names with a prefix, followed by a number from 100000000000 on.
func newColdClient(tb testing.TB, prefix string, c config.Config) *coldClient {
	tb.Helper()
	client := &coldClient{dialServer(tb, c), firstColdName}
	client.request = append(make([]byte, 0, 256), "GET /"+prefix...)
	for range 200 { // the first ones fill pools
		client.exchange(tb)
	}
	return client
}

const firstColdName = 100_000_000_000

// exchange sends the next request.
func (c *coldClient) exchange(tb testing.TB) {
	tb.Helper()
	const rest = " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n"
	whole := strconv.AppendInt(c.request, int64(c.next), 10)
	whole = append(whole, rest...)
	c.next++
	if c.send(tb, whole); c.status() != http.StatusFound {
		tb.Fatalf("%q", c.response[:200])
	}
}

// coldNames returns clients for new names, by the system that resolves them.
func coldNames(tb testing.TB) map[string]*coldClient {
	tb.Helper()
	c := config.Default()
	c.DDDS.Enabled = false
	rule := newColdClient(tb, "urn:nbn:fi-fe", c)
	c.Registry.Store = "sqlite:" + filepath.Join(tb.TempDir(), "registry.db")
	fillRegistryFrom(tb, c.Registry.Store[len("sqlite:"):], firstColdName, 20_000)
	return map[string]*coldClient{"rule": rule, "registered": newColdClient(tb, "urn:nbn:fi-fe", c)}
}

// A new name is resolved in the goroutine of its connection, with few allocations for the whole request.
func TestColdNameAllocations(t *testing.T) {
	clients := coldNames(t)
	for name, most := range map[string]float64{"rule": 10, "registered": 16} {
		if raceDetector { // a sync.Pool drops some items on purpose
			most += 16
		}
		client := clients[name]
		if n := testing.AllocsPerRun(5000, func() { client.exchange(t) }); n > most {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// BenchmarkColdName measures the redirect of a new name on one connection, with client and server in this
// process.
func BenchmarkColdName(b *testing.B) {
	for name, client := range coldNames(b) {
		b.Run(name, func(b *testing.B) {
			if b.N > 10_000 {
				b.Skip("there are no more names")
			}
			b.ReportAllocs()
			for range b.N {
				client.exchange(b)
			}
		})
	}
}
