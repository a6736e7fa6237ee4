package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/forward"
)

// storedResponses is the daemon's cache of responses, filled without a network.
type storedResponses struct {
	observe.Responses
	proxy *forward.Proxy
	now   time.Time
	// fields and text are reusable buffers for a response.
	fields httpmessage.Fields
	text   httpmessage.ValueBuffer
}

// openResponses returns an empty cache with a size limit.
func openResponses(tb testing.TB, budget config.Size) *storedResponses {
	tb.Helper()
	c, d := config.Default(), newDependencies()
	c.Cache.Responses = budget
	now := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	d.now = func() time.Time { return now }
	made, closes, err := makeResponses(c, nil, nil, d.resolverDependencies)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(closes)
	proxy := forward.New(forward.Config{Cache: made.Cache, Via: httpmessage.NewViaName(), Now: d.now})
	return &storedResponses{Responses: made, proxy: proxy, now: now}
}

func responseKey(i int) string { return "http://origin.example/objects/" + strconv.Itoa(i) }

// fill stores responses of 1 KiB with the fields of nginx, and requests each once more.
func (s *storedResponses) fill(tb testing.TB, from, to int) {
	tb.Helper()
	body := bytes.Repeat([]byte("x"), 1<<10)
	requested := httpmessage.NewFields("Accept", "*/*", "User-Agent", "x")
	for i := from; i < to; i++ {
		head := httpmessage.NewFields("Server", "nginx", "Date", s.now.Format(http.TimeFormat), "Content-Type",
			"text/plain", "Content-Length", "1024",
			"Last-Modified", "Sat, 21 Nov 2026 08:00:00 GMT", "Etag", fmt.Sprintf(`"%x-400"`, i), "Cache-Control",
			"max-age=3600", "Accept-Ranges", "bytes")
		a, err := s.Serve(tb.Context(),
			&httpcache.Request{
				Request: httpmessage.Request{Method: http.MethodGet, Fields: requested},
				Key:     responseKey(i),
			},
			httpcache.OriginFunc(func(context.Context, httpcache.Outgoing) (*httpmessage.Response, error) {
				return &httpmessage.Response{
					Status: http.StatusOK, Fields: head,
					Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
				}, nil
			}))
		if err != nil {
			tb.Fatal(err)
		}
		if err := a.Content.SendTo(io.Discard, func() {}); err != nil {
			tb.Fatal(err)
		}
		a.Content.Close()
		s.hit(nil, i)
	}
}

// hit renders the fields of a response, and appends its content to dst.
func (s *storedResponses) hit(dst []byte, i int) []byte {
	r, ok := s.proxy.Find(responseKey(i), "", nil, func(string) []string { return nil }, s.now)
	if !ok {
		return dst
	}
	s.text.Reset()
	s.fields = s.proxy.AppendStored(s.fields[:0], r, forward.Part{}, false, &s.text)
	blocks, _ := r.Blocks()
	for _, block := range blocks {
		dst = append(dst, block...)
	}
	r.CountHit()
	return dst
}

// resident returns the resident memory of the process in bytes, 0 if unknown.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// processorTime returns the CPU time of the process, in nanoseconds.
func processorTime(b *testing.B) int64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// metric returns a metric of the runtime.
func metric(name string) float64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() == metrics.KindUint64 {
		return float64(sample[0].Value.Uint64())
	}
	return sample[0].Value.Float64()
}

// BenchmarkMemoryPerResponse fills the cache of responses with distinct ones of 1 KiB, and reports for each:
// its heap, the part of it that the garbage collector scans, its resident memory, and its accounted size; and
// the cost of one collection, and of all collections while the responses are requested. Run it once:
// -benchtime 1x. URND_RESPONSES is the number of responses, by default 200,000.
func BenchmarkMemoryPerResponse(b *testing.B) {
	n := 200_000
	if text := os.Getenv("URND_RESPONSES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // as the daemon sets it for such a heap
	for b.Loop() {
		heap, pages := testserver.HeapInUse(), resident()
		s := openResponses(b, config.Size(n)*4<<10)
		tables := testserver.HeapInUse()
		s.fill(b, 0, n)
		s.Store.Each(func(*cache.Entry[*httpcache.Entry]) bool { return false }) // it waits for pending writes
		grown := resident() - pages
		stats := s.Store.Stats()
		one := func(size int64) float64 { return float64(size) / float64(stats.Entries) }
		b.ReportMetric(one(grown), "resident-B/response")
		b.ReportMetric(one(testserver.HeapInUse()-heap), "heap-B/response")
		b.ReportMetric(one(tables-heap), "tables-B/response")
		b.ReportMetric(one(int64(metric("/gc/scan/heap:bytes"))), "scanned-B/response")
		b.ReportMetric(float64(stats.Bytes)/float64(stats.Entries), "counted-B/response")
		before := processorTime(b)
		runtime.GC()
		b.ReportMetric(one(processorTime(b)-before), "collection-ns/response")
		s.hits(b, n, 1_000_000)
		b.ReportMetric(float64(stats.Entries), "responses")
	}
}

// TestMemoryPerResponse checks that the overhead of a stored response of 1 KiB is little more than its size,
// and is accounted for.
func TestMemoryPerResponse(t *testing.T) {
	const n, most = 20_000, 2250
	s := openResponses(t, n*4<<10)
	before := testserver.HeapInUse()
	s.fill(t, 0, n)
	s.Store.Each(func(*cache.Entry[*httpcache.Entry]) bool { return false }) // it waits for pending writes
	stats := s.Store.Stats()
	grown := (testserver.HeapInUse() - before) / n
	t.Logf("%d bytes, %d counted", grown, stats.Bytes/n)
	if stats.Entries != n || grown > most || stats.Bytes/n > most || stats.Bytes/n < grown*9/10 {
		t.Errorf("%d entries of %d bytes, %d counted: want %d at most", stats.Entries, grown, stats.Bytes/n, most)
	}
}

// hits requests random responses, one in a hundred of which is a miss, and reports the share of the garbage
// collector in the CPU time.
func (s *storedResponses) hits(b *testing.B, n, requests int) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	collecting, busy, cycles := collection()
	var dst []byte
	start := time.Now()
	for i := range requests {
		if i%100 == 0 {
			s.fill(b, n+i, n+i+1)
			continue
		}
		dst = s.hit(dst[:0], random.IntN(n))
	}
	b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(requests), "ns/request")
	runtime.GC() // so that the metrics are current
	collected, worked, all := collection()
	b.ReportMetric(all-cycles, "GC-cycles")
	b.ReportMetric(100*(collected-collecting)/(worked-busy), "GC-%")
}

// collection returns the CPU time of the garbage collector and that of the process, in seconds, without
// idle-time collection; and the number of collections.
func collection() (collecting, busy, cycles float64) {
	idle := metric("/cpu/classes/gc/mark/idle:cpu-seconds")
	return metric("/cpu/classes/gc/total:cpu-seconds") - idle,
		metric("/cpu/classes/total:cpu-seconds") - metric("/cpu/classes/idle:cpu-seconds") - idle,
		metric("/gc/cycles/total:gc-cycles")
}
