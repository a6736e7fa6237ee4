package http2_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	framing "golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http2"
)

func window(size uint32) framing.Setting {
	return framing.Setting{ID: framing.SettingInitialWindowSize, Val: size}
}

// The server never sends more than the windows allow, and everything that they allow, whatever the client
// does with them: a model of both sides, RFC 9113 sections 5.2 and 6.9.
func TestFlowControl(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { playFlow(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func playFlow(t *testing.T, random *rand.Rand) {
	size := func(r *httpmessage.Incoming) int { n, _ := strconv.Atoi(r.Target[1:]); return n }
	initial := int64(random.IntN(3) * random.IntN(70_000))
	h := func(r *httpmessage.Incoming, w writer) {
		if content := make([]byte, size(r)); len(content)%3 == 0 {
			_, _ = w.ReadFrom(bytes.NewReader(content))
		} else {
			_, _ = w.Write(content)
		}
	}
	begins := random.IntN(2) == 0
	c := serve(t, handler{begin: func(r *httpmessage.Incoming, w writer) bool {
		if !begins || int64(size(r)) > w.Available() {
			return false
		}
		h(r, w)
		return true
	}, next: h}, nil).open(t, window(uint32(initial)))
	connection := int64(65_535)
	type side struct {
		window int64
		left   int
	}
	streams := make(map[uint32]*side)
	frames := make(chan framing.Frame, 10_000)
	go func() {
		defer close(frames)
		for {
			f, err := c.ReadFrame()
			if err != nil {
				return
			}
			if d, ok := f.(*framing.DataFrame); ok {
				f = &framing.DataFrame{FrameHeader: d.FrameHeader}
			}
			frames <- f
		}
	}()
	check := func() {
		synctest.Wait()
		for range len(frames) {
			switch f := (<-frames).(type) {
			case *framing.DataFrame:
				s := streams[f.StreamID]
				s.window -= int64(f.Length)
				connection -= int64(f.Length)
				s.left -= int(f.Length)
				if f.Length > 0 && (s.window < 0 || connection < 0) || s.left < 0 {
					t.Fatalf("%d bytes too many", f.Length)
				}
				if ends := f.StreamEnded(); ends != (s.left == 0) {
					if ends {
						t.Fatalf("%d bytes are missing", s.left)
					}
				} else if ends {
					delete(streams, f.StreamID)
				}
			case *framing.MetaHeadersFrame:
				if f.StreamEnded() {
					if streams[f.StreamID].left > 0 {
						t.Fatal("no content")
					}
					delete(streams, f.StreamID)
				}
			case *framing.RSTStreamFrame, *framing.GoAwayFrame:
				t.Fatalf("%v", f)
			}
		}
		for id, s := range streams {
			if s.window > 0 && connection > 0 {
				t.Fatalf("stream %d waits for %d bytes with windows of %d and %d", id, s.left, s.window, connection)
			}
		}
	}
	for range 100 {
		switch random.IntN(4) {
		case 0:
			if len(streams) < 50 {
				n := random.IntN(200_000) * random.IntN(2)
				streams[c.stream+2] = &side{initial, n}
				c.ask(true, get(fmt.Sprint("/", n))...)
			}
		case 1:
			n := 1 + random.IntN(100_000)
			connection += int64(n)
			_ = c.WriteWindowUpdate(0, uint32(n))
		case 2:
			for id, s := range streams {
				n := 1 + random.IntN(50_000)
				s.window += int64(n)
				_ = c.WriteWindowUpdate(id, uint32(n))
				break
			}
		case 3:
			check() // data sent before the server knows of a smaller window is no error
			size := int64(random.IntN(100_000))
			for _, s := range streams {
				s.window += size - initial
			}
			initial = size
			_ = c.WriteSettings(window(uint32(size)))
		}
		if random.IntN(3) > 0 {
			check()
		}
	}
	check()
}

// A large response does not block other streams: they are served in a round robin.
func TestFairness(t *testing.T) {
	t.Parallel()
	c := serve(t, later(func(r *httpmessage.Incoming, w writer) {
		w.WriteHeader(200, "", nil)
		_, _ = w.Write(make([]byte, 4<<20))
	}), nil).open(t, window(1<<30))
	const streams = 5
	var got [2*streams + 1]int
	for range streams {
		c.ask(true, get("/")...)
	}
	started := 0
	for started < streams {
		frame, err := c.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if frame.Header().Type == framing.FrameHeaders {
			started++
		}
	}
	_ = c.WriteWindowUpdate(0, 1<<30)
	for n := 0; n < 4<<20; {
		frame, err := c.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := frame.(*framing.DataFrame); ok {
			if len(f.Data()) > 16<<10 {
				t.Fatalf("a frame of %d bytes", len(f.Data()))
			}
			got[f.StreamID] += len(f.Data())
			n += len(f.Data())
		}
	}
	for id := 1; id < 2*streams; id += 2 {
		if got[id] < 400<<10 {
			t.Errorf("stream %d has got %d bytes of 4 MiB of all", id, got[id])
		}
	}
}

// A client that opens no window loses the stream at the deadline, and no other one, also if Begin has written
// the content.
func TestWriteDeadline(t *testing.T) {
	t.Parallel()
	for name, wrap := range modes() {
		for _, method := range []string{"Write", "ReadFrom"} {
			t.Run(name+", "+method, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					c := serve(t, wrap(func(r *httpmessage.Incoming, w writer) {
						if r.Target == "/small" {
							return
						}
						if method == "Write" {
							_, _ = w.Write(make([]byte, 40_000))
						} else {
							_, _ = w.ReadFrom(bytes.NewReader(make([]byte, 40_000)))
						}
					}), func(c *http2.Config) {
						c.WriteDeadline = func() time.Time { return time.Now().Add(30 * time.Second) }
					}).open(t, window(10_000))
					begin := time.Now()
					id := c.ask(true, get("/large")...)
					if a := c.receive(c.ask(true, get("/small")...)); a.status != "200" {
						t.Errorf("%v", a)
					}
					time.Sleep(29 * time.Second)
					_ = c.WriteWindowUpdate(id, 10_000)
					a := c.receive(id)
					if took := time.Since(begin); a.code != "CANCEL" || took != 59*time.Second {
						t.Errorf("%v behind %s", a, took)
					}
					if a := c.receive(c.ask(true, get("/small")...)); a.status != "200" {
						t.Errorf("%v", a)
					}
				})
			})
		}
	}
}

// A small content waits for its window without its handler, until the deadline, which restarts with each part.
func TestLittleContent(t *testing.T) {
	t.Parallel()
	const size, first = 2000, 10
	for name, wrap := range modes() {
		for _, tt := range []struct {
			name, want string
			after      time.Duration // from the request to the end of the stream
			open       uint32        // the window update of the client
		}{
			{"a window that is opened", "200 2000 ", 29 * time.Second, size - first},
			{"a window that is not", "200 10 CANCEL", 59 * time.Second, 0},
			{"a window that is opened for a part", "200 11 CANCEL", 59 * time.Second, 1},
		} {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, wrap(func(_ *httpmessage.Incoming, w writer) {
					_, _ = w.Write(make([]byte, size/2))
					_, _ = w.Write(make([]byte, size/2))
				}), func(c *http2.Config) {
					c.WriteDeadline = func() time.Time { return time.Now().Add(30 * time.Second) }
				})
				c := s.open(t, window(0))
				start := time.Now()
				id := c.ask(true, get("/")...)
				time.Sleep(29 * time.Second)
				if n := s.conn.waits.Load(); n != 0 || s.conn.idle.Load() {
					t.Errorf("%s, %s: %d handlers wait, idle %t", name, tt.name, n, s.conn.idle.Load())
				}
				_ = c.WriteWindowUpdate(id, first)
				synctest.Wait()
				if tt.open > 0 {
					_ = c.WriteWindowUpdate(id, tt.open)
				}
				a := c.receive(id)
				got, took := fmt.Sprint(a.status, " ", len(a.body), " ", a.code), time.Since(start)
				if got != tt.want || took != tt.after {
					t.Errorf("%s, %s: %s after %s", name, tt.name, got, took)
				}
				synctest.Wait()
				if !s.conn.idle.Load() {
					t.Errorf("%s, %s: it is not idle", name, tt.name)
				}
			})
		}
	}
}

// The windows of a client are limited: RFC 9113 section 6.9.1.
func TestWindowOverflow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		send       func(c *client, id uint32)
	}{
		{
			"of the connection", "GOAWAY FLOW_CONTROL_ERROR",
			func(c *client, _ uint32) { _ = c.WriteWindowUpdate(0, 1<<31-1) },
		},
		{"of a stream", "FLOW_CONTROL_ERROR", func(c *client, id uint32) { _ = c.WriteWindowUpdate(id, 1<<31-1) }},
		{"by 0 of a stream", "PROTOCOL_ERROR", func(c *client, id uint32) { _ = c.WriteWindowUpdate(id, 0) }},
		{
			"by 0 of the connection", "GOAWAY PROTOCOL_ERROR",
			func(c *client, _ uint32) { _ = c.WriteWindowUpdate(0, 0) },
		},
		{"by the settings", "GOAWAY FLOW_CONTROL_ERROR", func(c *client, id uint32) {
			_ = c.WriteWindowUpdate(id, 1<<30)
			_ = c.WriteSettings(window(1<<31 - 1))
		}},
		{
			"in the settings", "GOAWAY FLOW_CONTROL_ERROR",
			func(c *client, _ uint32) { _ = c.WriteSettings(window(1 << 31)) },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, later(func(_ *httpmessage.Incoming, w writer) { <-w.Context().Done() }), nil).open(t)
			id := c.ask(true, get("/")...)
			tt.send(c, id)
			if a := c.receive(id); a.code != tt.want {
				t.Errorf("%v", a)
			}
		})
	}
}

// A window that the acknowledgement of the settings closes is reopened: content that a handler has read
// before counts (RFC 9113 section 6.9.2).
func TestReceiveWindowBehindSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, later(func(r *httpmessage.Incoming, _ writer) { _, _ = io.Copy(io.Discard, r.Body) }), nil)
		c := newClient(t, s.client)
		var window atomic.Int64
		window.Store(65535)
		go func() {
			for {
				f, err := c.ReadFrame()
				if err != nil {
					return
				}
				switch f := f.(type) {
				case *framing.WindowUpdateFrame:
					if f.StreamID == 1 {
						window.Add(int64(f.Increment))
					}
				case *framing.SettingsFrame:
					if initial, ok := f.Value(framing.SettingInitialWindowSize); ok {
						window.Add(int64(initial) - 65535)
					}
				}
			}
		}()
		_, _ = io.WriteString(c.conn, framing.ClientPreface)
		_ = c.WriteSettings()
		id := c.ask(false, post("/", "content-length: 60000")...)
		for range 2 { // before the client has the settings
			_ = c.WriteData(id, false, make([]byte, 10000))
			window.Add(-10000)
		}
		synctest.Wait()
		_ = c.WriteSettingsAck()
		synctest.Wait()
		if window.Load() < 40000 {
			t.Errorf("the client may send %d bytes of the 40,000 that are left", window.Load())
		}
	})
}

// Only content needs a window (RFC 9113 section 6.9): the header is sent before it opens, and a stream ends whose
// content has filled it, since a client that knows the length opens it no further.
func TestFullWindow(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Write", "ReadFrom"} {
		for _, size := range []int{0, 100, 10_000, 65_535} {
			synctest.Test(t, func(t *testing.T) {
				c := serve(t, later(func(_ *httpmessage.Incoming, w writer) {
					w.WriteHeader(200, "", httpmessage.NewFields("Content-Length", strconv.Itoa(size)))
					content := make([]byte, size)
					if method == "Write" {
						_, _ = w.Write(content)
					} else {
						_, _ = w.ReadFrom(bytes.NewReader(content))
					}
				}), func(c *http2.Config) {
					c.WriteDeadline = func() time.Time { return time.Now().Add(30 * time.Second) }
				}).open(t, window(0))
				id := c.ask(true, get("/")...)
				var a answer
				for a.status+a.code == "" {
					frame, err := c.ReadFrame()
					if err != nil {
						t.Fatal(err)
					}
					if frame.Header().StreamID == id {
						a.take(frame)
					}
				}
				if !a.ended && a.code == "" {
					_ = c.WriteWindowUpdate(id, uint32(size))
					rest := c.receive(id)
					a.body, a.code = rest.body, rest.code
				}
				if a.status != "200" || len(a.body) != size || a.code != "" {
					t.Errorf("%s of %d bytes: %s, %d bytes, %s", method, size, a.status, len(a.body), a.code)
				}
			})
		}
	}
}

// The deadline is that for opening a window. Content that waits for the socket, whose writes have deadlines of their
// own, is sent when the client reads again.
func TestWriteDeadlineOfOpenWindow(t *testing.T) {
	t.Parallel()
	for _, size := range []int{300_000, 1000} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, later(func(r *httpmessage.Incoming, w writer) {
				n, _ := strconv.Atoi(r.Target[1:])
				w.WriteHeader(200, "", nil)
				_, _ = w.Write(make([]byte, n))
			}), func(c *http2.Config) {
				c.WriteDeadline = func() time.Time { return time.Now().Add(30 * time.Second) }
			})
			c := s.open(t, window(1<<30))
			_ = c.WriteWindowUpdate(0, 1<<30)
			synctest.Wait()
			s.client.in.resize(1)
			for range 2 { // one fills the socket, the other the output
				c.ask(true, get("/300000")...)
				synctest.Wait()
			}
			id := c.ask(true, get(fmt.Sprint("/", size))...)
			time.Sleep(100 * time.Second)
			if a := c.receive(id); a.status != "200" || len(a.body) != size || a.code != "" {
				t.Errorf("%d bytes: %s, %d bytes, %s", size, a.status, len(a.body), a.code)
			}
		})
	}
}
