package http2_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	framing "golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http2"
)

// cached answers like a cache hit, without an allocation.
func cached() handler {
	fields := httpmessage.NewFields("Content-Type", "text/html; charset=utf-8", "Content-Length", "1024",
		"Etag", `"abc"`, "Cache-Control", "max-age=3600", "Age", "17", "Via", "1.1 urnd")
	body := bytes.Repeat([]byte("x"), 1024)
	return atOnce(func(_ *httpmessage.Incoming, w writer) {
		if w.Available() < int64(len(body)) {
			return
		}
		w.WriteHeader(200, "", fields)
		_, _ = w.Write(body)
	})
}

// source is a connection that repeatedly sends the same requests, and counts the output.
type source struct {
	net.Conn
	first, each []byte
	requests    int
	step        int
	per         int
	written     chan struct{} // the last request was answered
}

func (s *source) Read(p []byte) (int, error) {
	if len(s.first) > 0 {
		n := copy(p, s.first)
		s.first = s.first[n:]
		return n, nil
	}
	<-s.written
	if s.requests <= 0 {
		return 0, io.EOF
	}
	at := 0
	for range s.per {
		n := copy(p[at:], s.each)
		s.step += 2
		for i, shift := range [...]int{24, 16, 8, 0} {
			p[at+5+i] = byte(s.step >> shift)
		}
		at += n
	}
	s.requests -= s.per
	return at, nil
}

func (*source) Close() error                       { return nil }
func (*source) SetReadDeadline(time.Time) error    { return nil }
func (*source) Secure() bool                       { return true }
func (*source) ServerName() string                 { return "" }
func (*source) SetServing() bool                   { return true }
func (*source) SetIdle()                           {}
func (*source) SetTunnels(bool)                    {}
func (*source) OnDrain(func())                     {}
func (*source) BeginWait() context.Context         { return context.Background() }
func (*source) HalfClosed() context.Context        { return nil }
func (*source) EndWait()                           {}
func (*source) Await() error                       { return io.EOF }
func (*source) Suspend(_ time.Time, _ func(error)) {}
func (*source) Linger() error                      { return nil }
func (*source) RemoteAddr() net.Addr               { return &net.TCPAddr{} }
func (*source) LocalAddr() net.Addr                { return &net.TCPAddr{} }

func (s *source) Write(p []byte) (int, error) {
	select {
	case s.written <- struct{}{}:
	default:
	}
	return len(p), nil
}

// requests returns the first bytes of a client, and those of each later request, whose stream identifier is to be set.
func requests() (first, each []byte) {
	var out bytes.Buffer
	c := newClient(nil, struct {
		io.ReadWriter
		io.Closer
	}{&out, nil})
	_, _ = io.WriteString(&out, framing.ClientPreface)
	_ = c.WriteSettings(window(1 << 30))
	_ = c.WriteSettingsAck()
	_ = c.WriteWindowUpdate(0, 1<<31-1-65535)
	fields := get("/urn:ietf:rfc:2648", "user-agent: h2load", "accept: */*")
	_ = c.askOn(1, true, fields...)
	first = bytes.Clone(out.Bytes())
	out.Reset()
	_ = c.askOn(3, true, fields...)
	return first, bytes.Clone(out.Bytes())
}

func benchmark(b *testing.B, h httpmessage.Handler, per int) {
	s := http2.NewServer(config(h, nil))
	defer s.Close()
	b.ReportAllocs()
	left := b.N
	for left > 0 {
		n := min(left, 1_000_000) // the window of a client is limited
		left -= n
		first, each := requests()
		conn := &source{first: first, each: each, requests: n, step: 1, per: per, written: make(chan struct{}, 1)}
		s.Serve(conn)
	}
}

func BenchmarkBegin(b *testing.B)    { benchmark(b, cached(), 1) }
func BenchmarkBegin16(b *testing.B)  { benchmark(b, cached(), 16) }
func BenchmarkContinue(b *testing.B) { benchmark(b, handler{next: cached().begin2}, 1) }

func (h handler) begin2(r *httpmessage.Incoming, w writer) { h.begin(r, w) }

// A request that is answered by Begin costs at most 6 allocations, most of which are those of the Framer.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget with the race detector")
	}
	const most = 6
	result := testing.Benchmark(func(b *testing.B) { benchmark(b, cached(), 1) })
	if n := result.AllocsPerOp(); n > most {
		t.Errorf("%d allocations a request", n)
	}
}

// Idle connections, and streams that wait for a window of their client, use little memory. The connections
// are in memory, without TLS.
func TestMemory(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("the race detector takes memory, or the tests are short")
	}
	synctest.Test(t, playMemory)
}

func playMemory(t *testing.T) {
	inUse := func() (heap, stack int64) {
		synctest.Wait()
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc), int64(m.StackInuse)
	}
	const connections, streams = 200, 40
	size := 1 << 10
	h := handler{begin: func(r *httpmessage.Incoming, w writer) bool {
		if r.Target == "/wait" {
			return false
		}
		plain(r, w)
		return true
	}, next: func(r *httpmessage.Incoming, w writer) {
		_, _ = w.Write(large[:size])
	}}
	var all []*server
	var clients []*client
	heap, stack := inUse()
	each := func(what string, n, mostHeap, mostStack int64) {
		t.Helper()
		for _, s := range all {
			s.client.in.discard()
		}
		nowHeap, nowStack := inUse()
		heap, stack = (nowHeap-heap)/n, (nowStack-stack)/n
		t.Logf("%s: %d bytes of heap, %d of stack", what, heap, stack)
		if heap > mostHeap || stack > mostStack {
			t.Errorf("%s has %d bytes of heap and %d of stack, more than %d and %d", what, heap, stack,
				mostHeap, mostStack)
		}
		heap, stack = nowHeap, nowStack
	}
	by := http2.NewServer(config(h, func(c *http2.Config) {
		c.WriteDeadline = func() time.Time { return time.Now().Add(time.Hour) }
	}))
	t.Cleanup(by.Close)
	for range connections {
		s := serveBy(t, by)
		c := s.open(t)
		c.receive(c.ask(true, get("/")...))
		c.Framer = nil
		all, clients = append(all, s), append(clients, c)
	}
	time.Sleep(time.Second)
	each("an idle connection", connections, 7000, 6<<10)
	wait := func() {
		for i, s := range all {
			c := clients[i]
			c.Framer = framing.NewFramer(s.client, s.client)
			_ = c.WriteSettings(window(1))
			for range streams {
				c.ask(true, get("/wait")...)
			}
			c.Framer = nil
		}
		time.Sleep(time.Second)
	}
	wait()
	each("a stream that waits for a little content to be sent", connections*streams, 2500, 512)
	size = len(large)
	wait()
	each("a stream that waits for a handler to send much", connections*streams, 1600, 4608)
	runtime.KeepAlive(clients)
}

var large [1 << 20]byte

func (m *memory) discard() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes = nil
}

// The client of net/http is served over TLS.
func TestClientOfNetHTTP(t *testing.T) {
	t.Parallel()
	address := listenTCP(t, later(echo), nil)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	for n := 1; n < 10<<20; n *= 7 {
		response, err := client.Post("http://"+address+"/", "text/plain", io.LimitReader(zeros{}, int64(n)))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if want := fmt.Sprint(n); err != nil || !bytes.HasSuffix(body, []byte(want)) || response.ProtoMajor != 2 {
			t.Errorf("%q %v %s", body, err, response.Proto)
		}
	}
}
