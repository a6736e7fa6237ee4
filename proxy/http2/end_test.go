package http2_test

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	framing "golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http2"
)

// goAway reads frames until a GOAWAY arrives.
func (c *client) goAway() (last uint32, code framing.ErrCode) {
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			c.t.Fatalf("no GOAWAY: %v", err)
		}
		if f, ok := frame.(*framing.GoAwayFrame); ok {
			return f.LastStreamID, f.ErrCode
		}
	}
}

// A server that shuts down sends two GOAWAY frames, a round trip apart: RFC 9113 section 6.8. Open streams
// finish, and the connection ends with the last one.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, acknowledges := range []bool{true, false} {
		t.Run(fmt.Sprint("acknowledged ", acknowledges), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				s := serve(t, later(func(r *httpmessage.Incoming, w writer) { <-release; plain(r, w) }), nil)
				c := s.open(t)
				first := c.ask(true, get("/1")...)
				synctest.Wait()
				s.conn.drain()
				if last, code := c.goAway(); last != 1<<31-1 || code != framing.ErrCodeNo {
					t.Errorf("%d %v", last, code)
				}
				second := c.ask(true, get("/2")...)
				if acknowledges {
					_ = c.WritePing(true, [8]byte([]byte("goaway\x00\x00")))
				}
				if last, code := c.goAway(); last != second || code != framing.ErrCodeNo {
					t.Errorf("%d %v", last, code)
				}
				third := c.ask(false, post("/3")...) // too late
				_ = c.WriteData(third, true, []byte("abc"))
				synctest.Wait()
				close(release)
				got := make(map[uint32]*answer)
				for {
					frame, err := c.ReadFrame()
					if err != nil {
						break
					}
					id := frame.Header().StreamID
					if got[id] == nil {
						got[id] = &answer{}
					}
					got[id].take(frame)
				}
				if got[first].status != "200" || got[second].status != "200" || got[third] != nil {
					t.Errorf("%v", got)
				}
				<-s.ended
			})
		})
	}
}

// An idle connection of a server that shuts down is closed when the client has received the GOAWAY.
func TestDrainOfIdle(t *testing.T) {
	t.Parallel()
	for _, quiet := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, atOnce(plain), nil)
			c := s.open(t)
			c.receive(c.ask(true, get("/")...))
			time.Sleep(quiet)
			s.conn.drain()
			begin := time.Now()
			if last, _ := c.goAway(); last != 1<<31-1 {
				t.Errorf("%d", last)
			}
			if last, _ := c.goAway(); last != 1 {
				t.Errorf("%d", last)
			}
			<-s.ended
			if took := time.Since(begin); took > time.Second {
				t.Errorf("%s", took)
			}
		})
	}
}

// "Connection: close" of a handler ends the connection after the response.
func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, atOnce(func(_ *httpmessage.Incoming, w writer) {
			w.WriteHeader(200, "", httpmessage.NewFields("Connection", "close"))
		}), nil)
		c := s.open(t)
		if a := c.receive(c.ask(true, get("/")...)); a.status != "200" {
			t.Errorf("%v", a)
		}
		<-s.ended
	})
}

// A connection without streams ends at the idle timeout, whatever other frames its client sends. One with a
// stream does not.
func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := serve(t, later(func(r *httpmessage.Incoming, w writer) { <-release; plain(r, w) }), nil)
		c := s.open(t)
		id := c.ask(true, get("/")...)
		time.Sleep(time.Hour)
		close(release)
		c.receive(id)
		begin := time.Now()
		go func() {
			for range 59 {
				time.Sleep(time.Second)
			}
		}()
		if last, code := c.goAway(); last != 1 || code != framing.ErrCodeNo || time.Since(begin) != time.Minute {
			t.Errorf("%d %v behind %s", last, code, time.Since(begin))
		}
		<-s.ended
	})
}

// The idle timeout also applies if the last stream ends while the connection begins to wait without a buffer.
func TestIdleTimeoutOfWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := serve(t, later(func(r *httpmessage.Incoming, w writer) { <-release; plain(r, w) }), nil)
		s.conn.onAwait = sync.OnceFunc(func() { close(release); synctest.Wait() })
		s.open(t).ask(true, get("/")...)
		time.Sleep(2 * time.Minute)
		select {
		case <-s.ended:
		default:
			t.Error("the connection is still open")
		}
	})
}

// An idle connection waits without a buffer and without its goroutine, releases the state of its handler, and
// continues.
func TestRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closed := 0
		s := serve(t, handler{begin: func(r *httpmessage.Incoming, w writer) bool {
			r.Conn.SetState(closer(func() { closed++ }))
			if r.Target == "/later" {
				return false
			}
			plain(r, w)
			return true
		}, next: plain}, nil)
		c := s.open(t)
		for i := range 5 {
			if a := c.receive(c.ask(true, get([]string{"/", "/later"}[i%2])...)); a.status != "200" {
				t.Errorf("%v", a)
			}
			synctest.Wait()
			if !s.conn.idle.Load() {
				t.Error("it is not idle")
			}
			time.Sleep(time.Second)
			if n := s.conn.suspended.Load(); n != int64(i+1) || closed != i+1 {
				t.Errorf("%d times parked, %d closed", n, closed)
			}
		}
	})
}

type closer func()

func (c closer) Close() error { c(); return nil }

// A connection with waiting streams releases its buffer, too, and is not idle.
func TestRestWithStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, later(waiting), nil)
		c := s.open(t)
		id := c.ask(true, get("/")...)
		time.Sleep(time.Second)
		if s.conn.awaited.Load() != 1 || s.conn.suspended.Load() != 0 || s.conn.idle.Load() {
			t.Errorf("%d %d %t", s.conn.awaited.Load(), s.conn.suspended.Load(), s.conn.idle.Load())
		}
		_ = c.WriteRSTStream(id, framing.ErrCodeCancel)
		synctest.Wait()
		if !s.conn.idle.Load() {
			t.Error("it is not idle")
		}
	})
}

// A client whose connection was evicted learns that no later request was processed: RFC 9113 section 6.8.
func TestEviction(t *testing.T) {
	t.Parallel()
	for _, quiet := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, atOnce(plain), nil)
			c := s.open(t)
			c.receive(c.ask(true, get("/")...))
			time.Sleep(quiet)
			synctest.Wait()
			s.conn.evict()
			c.ask(true, get("/")...)
			if last, code := c.goAway(); last != 1 || code != framing.ErrCodeNo {
				t.Errorf("%d %v", last, code)
			}
			<-s.ended
		})
	}
}

// A client that has closed its side gets what its windows allow. Streams that wait for a window or for the
// rest of a body end immediately, others with the client.
func TestHalfClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan string, 10)
		release := make(chan struct{})
		s := serve(t, later(func(r *httpmessage.Incoming, w writer) {
			defer func() { ended <- r.Target }()
			switch r.Target {
			case "/document":
				_, _ = w.Write(make([]byte, 10_000))
			case "/file":
				_, _ = w.ReadFrom(zeros{})
			case "/body":
				_, _ = io.Copy(io.Discard, r.Body)
			case "/later":
				<-release
				_, _ = w.Write(make([]byte, 900))
				<-release
				_, _ = w.Write(make([]byte, 900))
			case "/wait":
				waiting(r, w)
			}
		}), nil)
		c := s.open(t, window(1000))
		c.ask(true, get("/document")...)
		c.ask(true, get("/file")...)
		c.ask(false, post("/body")...)
		later := c.ask(true, get("/later")...)
		c.ask(true, get("/wait")...)
		synctest.Wait()
		if len(ended) != 0 {
			t.Fatal(<-ended)
		}
		_ = s.client.CloseWrite()
		got := map[string]bool{<-ended: true, <-ended: true, <-ended: true}
		if !got["/document"] || !got["/file"] || !got["/body"] {
			t.Errorf("%v", got)
		}
		release <- struct{}{}
		synctest.Wait()
		release <- struct{}{} // then its window is used up
		if name := <-ended; name != "/later" {
			t.Error(name)
		}
		s.conn.leave()
		if name := <-ended; name != "/wait" {
			t.Error(name)
		}
		<-s.ended
		n := 0
		for {
			frame, err := c.ReadFrame()
			if err != nil {
				break
			}
			if f, ok := frame.(*framing.DataFrame); ok && f.StreamID == later {
				n += len(f.Data())
			}
		}
		if n != 1000 && n != 900 {
			t.Errorf("%d bytes", n)
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A disconnect of the client ends its streams, at whatever point of the connection.
func TestLeft(t *testing.T) {
	t.Parallel()
	var script []byte
	{
		client, server := newPipe()
		c := newClient(t, client)
		begin(c)
		_ = c.askOn(3, false, post("/body")...)
		_ = c.WriteData(3, false, []byte("abc"))
		_ = c.askOn(5, true, get("/document")...)
		script = append(script, server.in.bytes...)
	}
	for cut := range len(script) + 1 {
		for _, leave := range []string{"FIN", "RST"} {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, later(func(r *httpmessage.Incoming, w writer) {
					switch r.Target {
					case "/document":
						_, _ = w.Write(make([]byte, 100_000))
					case "/body":
						_, _ = io.Copy(io.Discard, r.Body)
					default:
						waiting(r, w)
					}
				}), nil)
				_, _ = s.client.Write(script[:cut])
				synctest.Wait()
				if leave == "FIN" {
					_ = s.client.CloseWrite()
					synctest.Wait()
					s.conn.leave()
				} else {
					s.client.reset()
				}
				<-s.ended
				if s.conn.waits.Load() != 0 {
					t.Errorf("%d waits", s.conn.waits.Load())
				}
			})
		}
	}
}

// CONNECT is a tunnel whose sides end independently: RFC 9113 section 8.5.
func TestTunnel(t *testing.T) {
	t.Parallel()
	tunnels := make(chan net.Conn, 1)
	s := serve(t, later(func(r *httpmessage.Incoming, w writer) {
		if r.Method != "CONNECT" {
			if _, _, err := w.Hijack(); err == nil {
				t.Error("it is not a tunnel")
			}
			return
		}
		w.WriteHeader(200, "", httpmessage.NewFields("Via", "x", "Content-Length", "3"))
		conn, early, err := w.Hijack()
		if err != nil || early != nil || r.Target != "a:443" || r.Host != "a:443" || r.ContentLength != -1 {
			t.Errorf("%v %q %v", err, early, r)
		}
		tunnels <- conn
	}), func(c *http2.Config) { c.BodyDeadline = func() time.Time { return time.Unix(1, 0) } })
	c := s.open(t)
	connect := func() (uint32, net.Conn) {
		id := c.ask(false, ":method: CONNECT", ":authority: a:443")
		return id, <-tunnels
	}
	id, conn := connect()
	b := make([]byte, 10)
	_ = c.WriteData(id, false, []byte("abc"))
	if n, err := conn.Read(b); string(b[:n]) != "abc" || err != nil {
		t.Errorf("%q %v", b[:n], err)
	}
	_, _ = conn.Write([]byte("def"))
	_, _ = conn.Write([]byte("ghi"))
	_ = conn.(interface{ CloseWrite() error }).CloseWrite()
	if _, err := conn.Write([]byte("x")); err == nil {
		t.Error("it is closed")
	}
	if a := c.receive(id); a.body != "defghi" || a.status != "200" || a.field("content-length") != "" || a.code != "" {
		t.Errorf("%v", a)
	}
	_ = c.WriteData(id, true, []byte("jkl"))
	if got, err := io.ReadAll(conn); string(got) != "jkl" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	_, _ = conn.Close(), conn.Close()
	id, conn = connect()
	_ = conn.Close()
	if a := c.receive(id); a.code != "CONNECT_ERROR" {
		t.Errorf("%v", a)
	}
	id, conn = connect()
	_ = c.WriteRSTStream(id, framing.ErrCodeCancel)
	if n, err := conn.Read(b); err == nil {
		t.Errorf("%q", b[:n])
	}
	_ = conn.SetDeadline(time.Now())
	_ = conn.Close()
	if a := c.receive(c.ask(true, get("/")...)); a.status != "200" {
		t.Errorf("%v", a)
	}
	for s.conn.waits.Load() != 0 {
	}
}

// A connection whose streams are all tunnels is known as such: at the end of the server these may be cut.
func TestOnlyTunnels(t *testing.T) {
	t.Parallel()
	tunnels, proceed := make(chan net.Conn, 1), make(chan struct{})
	s := serve(t, later(func(r *httpmessage.Incoming, w writer) {
		if r.Method != "CONNECT" {
			<-proceed
			text(w, "a")
			return
		}
		w.WriteHeader(200, "", nil)
		conn, _, err := w.Hijack()
		if err != nil {
			t.Error(err)
		}
		tunnels <- conn
	}), nil)
	c := s.open(t)
	expect := func(when string, want bool) {
		t.Helper()
		if got := s.conn.tunnels.Load(); got != want {
			t.Errorf("%s: %t", when, got)
		}
	}
	connect := func() (uint32, net.Conn) {
		id := c.ask(false, ":method: CONNECT", ":authority: a:443")
		return id, <-tunnels
	}
	first, conn := connect()
	expect("a tunnel", true)
	second := c.ask(true, get("/")...)
	_ = c.WritePing(false, [8]byte{})
	_, other := connect() // read after the request
	expect("two tunnels and a request", false)
	close(proceed)
	if a := c.receive(second); a.status != "200" {
		t.Errorf("%v", a)
	}
	for !s.conn.tunnels.Load() { // the other two are tunnels
	}
	_ = conn.Close()
	if a := c.receive(first); a.code != "CONNECT_ERROR" {
		t.Errorf("%v", a)
	}
	expect("one tunnel", true)
	_ = other.Close()
	expect("no stream", false)
}

// An extended CONNECT becomes a GET that switches the protocol of its stream, which becomes a tunnel only
// after a 2xx response: RFC 8441 sections 4 and 5.
func TestExtendedConnect(t *testing.T) {
	t.Parallel()
	s := serve(t, later(func(r *httpmessage.Incoming, w writer) {
		if r.Method != "GET" || r.Protocol != "websocket" || r.Scheme != "https" || r.Host != "a.example" ||
			r.Body != nil || r.ContentLength != 0 {
			t.Errorf("%+v", r)
		}
		if r.Target == "/no" {
			w.WriteHeader(403, "", nil)
			text(w, "no")
			return
		}
		w.WriteHeader(200, "", httpmessage.NewFields("Content-Length", "3"))
		conn, _, err := w.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		b := make([]byte, 10)
		n, _ := conn.Read(b)
		_, _ = conn.Write(b[:n])
	}), func(c *http2.Config) { c.ExtendedConnect = true })
	c := s.open(t)
	request := func(path string) []string {
		return []string{
			":method: CONNECT", ":protocol: websocket", ":scheme: https", ":authority: a.example",
			":path: " + path,
		}
	}
	id := c.ask(false, request("/")...)
	_ = c.WriteData(id, false, []byte("abc"))
	if a := c.receive(id); a.status != "200" || a.field("content-length") != "" || a.body != "abc" ||
		a.code != "CANCEL" {
		t.Errorf("%v", a)
	}
	if a := c.receive(c.ask(false, request("/no")...)); a.status != "403" || a.field("content-length") != "2" ||
		a.body != "no" {
		t.Errorf("%v", a)
	}
	for name, fields := range map[string][]string{
		"without CONNECT": append([]string{":protocol: websocket"}, get("/")...),
		"twice":           append([]string{":protocol: websocket"}, request("/")...),
		"without :path":   request("/")[:4],
		"empty":           append([]string{":protocol: "}, request("/")[2:]...),
	} {
		if a := c.receive(c.ask(true, fields...)); a.code != "PROTOCOL_ERROR" {
			t.Errorf("%s: %v", name, a)
		}
	}
	for s.conn.waits.Load() != 0 {
	}
}
