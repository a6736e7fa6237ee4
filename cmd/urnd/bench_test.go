package main

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/resolver"
)

// discardWriter is the response to a request without a network; it stores only the status.
type discardWriter struct {
	httpmessage.ResponseWriter
	status int
}

func (w *discardWriter) WriteHeader(status int, _ string, _ httpmessage.Fields) { w.status = status }

func (*discardWriter) Context() context.Context    { return context.Background() }
func (*discardWriter) HalfClosed() context.Context { return nil }
func (*discardWriter) Available() int64            { return math.MaxInt64 }
func (*discardWriter) Flush() error                { return nil }
func (*discardWriter) Write(p []byte) (int, error) { return len(p), nil }

// answerTo serves a request with a service, and discards the response.
func (w *discardWriter) answerTo(s *service, r *httpmessage.Incoming) {
	if rest := s.Begin(r, w); rest != nil {
		rest.Continue()
	}
}

func wireForBench(b *testing.B, answers config.Size) wiredAll {
	b.Helper()
	c := config.Default()
	c.DDDS.Enabled = false
	c.Cache.Answers = answers
	p, err := wireAll(c, newDependencies())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.close)
	return p
}

// BenchmarkCachedRedirect measures the handler of a cached answer, without a protocol.
func BenchmarkCachedRedirect(b *testing.B) {
	for _, bm := range []struct{ name, target string }{
		{"canonical", "/urn:ietf:rfc:2648"},
		{"to-be-normalized", "/URN:ISBN:0-395-36341-1"},
		{"THTTP", "/uri-res/N2L?urn:ietf:rfc:2648"},
		{"proxy", "urn:ietf:rfc:2648"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			p := wireForBench(b, 64<<20)
			r, w := localRequest(bm.target), new(discardWriter)
			if first, _ := proxytest.Record(p.service, r); first.Fields.Get("Location") == "" {
				b.Fatal("no redirect")
			}
			b.ReportAllocs()
			for b.Loop() {
				w.answerTo(p.service, r)
			}
			if last, cached := proxytest.Record(p.service, r); !cached ||
				!strings.HasPrefix(last.Fields.Get("Cache-Status"), "urnd; hit") {
				b.Error("not from the cache")
			}
		})
	}
}

// localRequest returns a GET of a client on loopback.
func localRequest(target string, fields ...string) *httpmessage.Incoming {
	r := proxytest.Request(http.MethodGet, target, fields...)
	r.Conn = &proxytest.Conn{Remote: netip.MustParseAddrPort("127.0.0.1:1")}
	return r
}

// BenchmarkMemoryPerAnswer fills the cache with distinct names and reports the heap of each, with keys and
// the overhead of ristretto. The capacity is chosen so that they just fit: this checks that cache.answers is
// an accurate limit.
func BenchmarkMemoryPerAnswer(b *testing.B) {
	const names, capacity = 1_000_000, 450 << 20
	for b.Loop() {
		before := heap()
		p := wireForBench(b, capacity)
		for i := range names {
			if _, err := p.resolver.Resolve(context.Background(), nameOf(b, i)); err != nil {
				b.Fatal(err)
			}
		}
		used := heap() - before
		held := 0
		for i := range names {
			answer, err := p.resolver.Resolve(context.Background(), nameOf(b, i))
			if err != nil {
				b.Fatal(err)
			}
			if answer.Cache == resolver.CacheHit {
				held++
			}
		}
		b.ReportMetric(float64(used)/float64(held), "B/answer")
		b.ReportMetric(float64(held), "answers")
		p.close()
	}
}

func nameOf(b *testing.B, i int) resolver.Query {
	b.Helper()
	return resolvable(b, "urn:ietf:rfc:"+strconv.Itoa(i+1))
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkExplain measures a cached resolution with and without a trace: without it, tracing costs next to
// nothing, and by TestExplainIsFree does not allocate.
func BenchmarkExplain(b *testing.B) {
	p := wireForBench(b, 64<<20)
	q := resolvable(b, "urn:ietf:rfc:2648")
	for _, bm := range []struct {
		name string
		ctx  func() context.Context
	}{
		{"off", context.Background},
		{"on", func() context.Context { ctx, _ := resolver.WithTrace(context.Background(), time.Now); return ctx }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.resolver.Resolve(bm.ctx(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("asking whether it is on", func(b *testing.B) {
		ctx, cancel := context.WithCancel(message.WithTraceparent(context.Background(), "00-a"))
		defer cancel()
		b.ReportAllocs()
		for b.Loop() {
			if resolver.TraceOf(ctx) != nil {
				b.Fatal("it is on")
			}
		}
	})
}

func TestExplainIsFree(t *testing.T) {
	p, err := wireAll(config.Default(), newDependencies())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	q := resolvable(t, "urn:ietf:rfc:2648")
	resolve := func() {
		if _, err := p.resolver.Resolve(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	resolve()
	if n := testing.AllocsPerRun(100, resolve); n > 1 { // the load function
		t.Errorf("a cached resolution makes %v allocations without a trace", n)
	}
}

// BenchmarkTelemetry measures the handler of a cached answer without spans, with one traced request in a
// million, and with all requests traced.
func BenchmarkTelemetry(b *testing.B) {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	for _, bm := range []struct {
		name      string
		telemetry config.Telemetry
	}{
		{"off", config.Telemetry{Sample: 1}},
		{"one of a million", config.Telemetry{Endpoint: collector.URL, Sample: 1_000_000}},
		{"all", config.Telemetry{Endpoint: collector.URL, Sample: 1}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			c := config.Default()
			c.DDDS.Enabled = false
			c.Telemetry = bm.telemetry
			p, err := wireAll(c, newDependencies())
			if err != nil {
				b.Fatal(err)
			}
			defer p.close()
			r, w := localRequest("/urn:ietf:rfc:2648"), new(discardWriter)
			b.ReportAllocs()
			for b.Loop() {
				w.answerTo(p.service, r)
			}
		})
	}
}
