package proxy_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
)

// discard is a ResponseWriter that discards the content.
type discard struct {
	httpmessage.ResponseWriter
	status int
}

func (d *discard) WriteHeader(status int, _ string, _ httpmessage.Fields) { d.status = status }
func (*discard) Write(p []byte) (int, error)                              { return len(p), nil }
func (*discard) Available() int64                                         { return 1 << 30 }

func (*discard) WriteBuffers(buffers [][]byte) (written int64, err error) {
	for _, b := range buffers {
		written += int64(len(b))
	}
	return written, nil
}

// hit is a typical request that a cache answers.
type hit struct {
	name, target, host string
	status             int
	allocations        float64 // at most
	change             func(*proxy.Config)
}

func hits() []hit {
	return []hit{
		{"redirect", cachedName, "a", 302, 0, nil},
		{"identified redirect", cachedName, "a", 302, 0, withIDs},
		{"refusal", "/urn:example:none", "a", 404, 2, nil},
		{"forward", "http://a.example/kilobyte", "a.example", 200, 0, nil},
		{"gateway", "/kilobyte", "www.example", 200, 0, nil},
		{"behind a proxy", cachedName, "a", 302, 0, trusting},
	}
}

// request returns the request as a browser sends it.
func (h *hit) request() *httpmessage.Incoming {
	fields := []string{
		"Host", h.host, "User-Agent", "Mozilla/5.0", "Accept", "*/*", "Accept-Encoding", "gzip, deflate, br",
		"Accept-Language", "en-US,en;q=0.5", "Connection", "keep-alive",
	}
	if h.name == "behind a proxy" {
		fields = append(fields, "X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https")
	}
	return request("GET", h.target, fields...)
}

// world returns a world with the cached response, which observes requests without copying events.
func (h *hit) world(t testing.TB) *world {
	t.Helper()
	w := newWorld(t, h.change)
	w.warm(t, h.target, h.host, "Accept", "*/*", "Accept-Language", "en-US,en;q=0.5")
	config := w.config
	config.Observe = func(*proxy.Event) {}
	w.Handler = proxy.New(config)
	return w
}

// A cache hit allocates next to nothing.
func TestBeginAllocates(t *testing.T) {
	for _, h := range hits() {
		w := h.world(t)
		in, out := h.request(), new(discard)
		if n := testing.AllocsPerRun(200, func() {
			if rest := w.Begin(in, out); rest != nil || out.status != h.status {
				t.Fatalf("%s: %d", h.name, out.status)
			}
		}); n > h.allocations {
			t.Errorf("%s: %v allocations, want %v", h.name, n, h.allocations)
		}
	}
}

// BenchmarkBegin measures cache hits, without a protocol.
func BenchmarkBegin(b *testing.B) {
	for _, h := range hits() {
		b.Run(strings.ReplaceAll(h.name, " ", "-"), func(b *testing.B) {
			w := h.world(b)
			in, out := h.request(), new(discard)
			b.ReportAllocs()
			for b.Loop() {
				if w.Begin(in, out) != nil {
					b.Fatal("a cache has no answer")
				}
			}
		})
	}
}
