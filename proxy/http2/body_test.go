package http2_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	framing "golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http2"
)

// echo sends back its input, and how that has ended.
func echo(r *httpmessage.Incoming, w writer) {
	if r.Body == nil {
		text(w, "no body")
		return
	}
	content, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%d %.20s %d", r.ContentLength, content, len(content))
	if r.Trailer != nil {
		fmt.Fprintf(w, " %v %v", r.Trailer.Names, r.Trailer.Fields)
	}
	if err != nil {
		fmt.Fprintf(w, " %v", err)
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	c := serve(t, later(echo), nil).open(t)
	data := func(parts ...string) func(id uint32) {
		return func(id uint32) {
			for i, part := range parts {
				_ = c.WriteData(id, i == len(parts)-1, []byte(part))
			}
		}
	}
	trailer := func(end bool, fields ...string) func(id uint32) {
		return func(id uint32) {
			_ = c.WriteData(id, false, []byte("abc"))
			_ = c.askOn(id, end, fields...)
		}
	}
	for _, tt := range []struct {
		name, want string
		fields     []string
		send       func(id uint32)
	}{
		{"content", "-1 abcdef 6", nil, data("abc", "def")},
		{"content and an empty frame", "-1 abc 3", nil, data("abc", "")},
		{"nothing", "-1  0", nil, data("")},
		{"a length", "6 abcdef 6", []string{"content-length: 6"}, data("abc", "def")},
		{"a length of nothing", "0  0", []string{"content-length: 0"}, data("")},
		{"less", "PROTOCOL_ERROR", []string{"content-length: 7"}, data("abc", "def")},
		{"more", "PROTOCOL_ERROR", []string{"content-length: 5"}, data("abc", "def")},
		{"less before trailers", "PROTOCOL_ERROR", []string{"content-length: 4"}, trailer(true, "x-t: 1")},
		{
			"padding", "-1 abc 3", nil,
			func(id uint32) { _ = c.WriteDataPadded(id, true, []byte("abc"), make([]byte, 100)) },
		},
		{
			"trailers", "-1 abc 3 [x-t] [{x-t 1} {x-u 2}]",
			[]string{"trailer: x-t, content-length"},
			trailer(true, "x-t: 1", "x-u: 2", "content-length: 3"),
		},
		{"trailers that were not announced", "-1 abc 3", nil, trailer(true, "x-t: 1")},
		{"trailers without an end", "PROTOCOL_ERROR", nil, trailer(false, "x-t: 1")},
		{"a pseudo-header field as a trailer", "PROTOCOL_ERROR", nil, trailer(true, ":path: /")},
		{"an upper case trailer", "PROTOCOL_ERROR", nil, trailer(true, "X-T: 1")},
	} {
		id := c.ask(false, post("/", tt.fields...)...)
		tt.send(id)
		if a := c.receive(id); a.body+a.code != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, a, tt.want)
		}
	}
	if a := c.receive(c.ask(true, post("/")...)); a.body != "no body" {
		t.Errorf("%v", a)
	}
}

// uploads are requests whose content a client sends as the server's windows allow: RFC 9113 section 5.2.
type uploads struct {
	*client
	mu                  sync.Mutex
	initial, connection int64
	windows, left       map[uint32]int64
}

func newUploads(c *client) *uploads {
	const initial = 65_535
	return &uploads{
		client: c, initial: initial, connection: initial,
		windows: make(map[uint32]int64), left: make(map[uint32]int64),
	}
}

// begin starts a request with n bytes of content.
func (u *uploads) begin(n int64, fields ...string) uint32 {
	u.mu.Lock()
	defer u.mu.Unlock()
	id := u.ask(false, fields...)
	u.windows[id], u.left[id] = u.initial, n
	u.send()
	return id
}

// send sends as much as the windows allow. u.mu is held.
func (u *uploads) send() {
	for id := range u.left {
		for u.left[id] > 0 && u.windows[id] > 0 && u.connection > 0 {
			n := min(u.left[id], u.windows[id], u.connection, 16<<10)
			u.left[id] -= n
			u.windows[id] -= n
			u.connection -= n
			_ = u.WriteData(id, u.left[id] == 0, make([]byte, n))
		}
	}
}

// take handles a frame.
func (u *uploads) take(frame framing.Frame) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch f := frame.(type) {
	case *framing.SettingsFrame:
		if value, ok := f.Value(framing.SettingInitialWindowSize); ok {
			for id := range u.windows {
				u.windows[id] += int64(value) - u.initial
			}
			u.initial = int64(value)
		}
	case *framing.WindowUpdateFrame:
		if f.StreamID == 0 {
			u.connection += int64(f.Increment)
		} else {
			u.windows[f.StreamID] += int64(f.Increment)
		}
	}
	u.send()
}

// receive reads frames until a stream has ended.
func (u *uploads) receive(id uint32) (a answer) {
	for {
		frame, err := u.ReadFrame()
		if err != nil {
			u.t.Fatal(err)
		}
		if u.take(frame); frame.Header().StreamID == id && a.take(frame) {
			return a
		}
	}
}

// A client may send 16 KiB of a body that no handler reads, and 256 KiB of one that is read, for which the
// window is reopened, unless the declared length is small: RFC 9113 section 6.9.
func TestReceiveWindow(t *testing.T) {
	t.Parallel()
	const first, most = 16 << 10, 256 << 10
	for _, early := range []bool{false, true} { // the request starts before the client has received the settings
		for _, tt := range []struct {
			length, read int64
			declared     bool
			want         int64 // bytes that it may have sent, in addition to those that were read
		}{
			{2 << 20, 0, false, first},
			{2 << 20, 1, false, most},
			{2 << 20, 100 << 10, false, most},
			{first, 1, true, first},
			{most, 1, true, most},
			{most + 1, 1, true, most},
		} {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				s := serve(t, later(func(r *httpmessage.Incoming, w writer) {
					for range 2 {
						_, _ = io.CopyN(io.Discard, r.Body, tt.read)
						<-release
						tt.read = tt.length
					}
				}), nil)
				u := newUploads(newClient(t, s.client))
				_, _ = io.WriteString(u.conn, framing.ClientPreface)
				_ = u.WriteSettings()
				fields := post("/")
				if tt.declared {
					fields = append(fields, fmt.Sprint("content-length: ", tt.length))
				}
				var id uint32
				if early {
					id = u.begin(tt.length, fields...)
				}
				_ = u.WriteSettingsAck()
				updates := 0
				go func() {
					for {
						frame, err := u.ReadFrame()
						if err != nil {
							return
						}
						if u.take(frame); frame.Header().Type == framing.FrameWindowUpdate &&
							frame.Header().StreamID > 0 {
							updates++
						}
					}
				}()
				synctest.Wait()
				if !early {
					id = u.begin(tt.length, fields...)
				}
				synctest.Wait()
				want := tt.want
				if early && tt.read == 0 {
					want = 65_535
				}
				if sent := tt.length - u.left[id]; sent < want || sent > want+tt.read {
					t.Errorf("%+v, early %t: %d bytes were sent", tt, early, sent)
				}
				if tt.length == first && updates > 0 {
					t.Errorf("%d updates", updates)
				}
				close(release)
				synctest.Wait()
				if u.left[id] > 0 {
					t.Errorf("%+v: %d bytes are left", tt, u.left[id])
				}
			})
		}
	}
}

// A request whose body is not read does not keep the client from sending another one: RFC 9113 section 5.2.2.
func TestStalledUploads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		u := newUploads(serve(t, later(func(r *httpmessage.Incoming, w writer) {
			if r.Target != "/" {
				_, _ = r.Body.Read(make([]byte, 1)) // an origin that stops reading
				<-release
			}
			n, err := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n, err)
		}), nil).open(t))
		const stalled, size = 20, 1 << 20
		var last uint32
		for range stalled {
			last = u.begin(size, post("/stalled")...)
		}
		if a := u.receive(u.begin(size, post("/")...)); a.body != fmt.Sprint(size, nil) {
			t.Errorf("%v", a)
		}
		close(release)
		if a := u.receive(last); a.body != fmt.Sprint(size-1, nil) {
			t.Errorf("%v", a)
		}
	})
}

// Exceeding the window of a stream is a stream error: RFC 9113 section 6.9.1.
func TestReceiveWindowOverflow(t *testing.T) {
	t.Parallel()
	for _, read := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := serve(t, later(func(r *httpmessage.Incoming, w writer) {
				if read {
					_, _ = r.Body.Read(make([]byte, 1))
				}
				<-w.Context().Done()
			}), nil).open(t)
			id, size := c.ask(false, post("/")...), 16<<10
			if read {
				_ = c.WriteData(id, false, make([]byte, 1))
				size = 256<<10 + 1
			}
			synctest.Wait()
			for left := size; left > 0; left -= min(left, 16<<10) {
				_ = c.WriteData(id, false, make([]byte, min(left, 16<<10)))
			}
			if !read {
				_ = c.WriteData(id, false, make([]byte, 1))
			}
			if got := c.receive(id); got.code != "FLOW_CONTROL_ERROR" {
				t.Errorf("%v", got)
			}
		})
	}
}

// A response before the end of the request ends the stream without an error: RFC 9113 section 8.1. Content
// that the client sends meanwhile is ignored, and credited to the connection window.
func TestEarlyResponse(t *testing.T) {
	t.Parallel()
	for name, wrap := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, wrap(plain), nil).open(t)
			for range 50 {
				id := c.ask(false, post("/", "content-length: 1000000")...)
				_ = c.WriteData(id, false, make([]byte, 10_000))
				var a answer
				for !a.ended {
					frame, err := c.ReadFrame()
					if err != nil {
						t.Fatal(err)
					}
					if frame.Header().StreamID == id && a.take(frame) && a.code != "" {
						t.Fatalf("%v", a)
					}
				}
				if got := c.receive(id); got.code != "NO_ERROR" {
					t.Fatalf("%v", got)
				}
				_ = c.WriteData(id, false, make([]byte, 10_000))
				_ = c.askOn(id, true, "x-trailer: 1")
			}
		})
	}
}

// A client may end a request after its response, if it does so soon and within its window. Errors are the
// same as in any request.
func TestRestOfRequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		after      time.Duration
		length     int
		send       func(c *client, id uint32)
	}{
		{"all of it", "", 0, 3, func(c *client, id uint32) { _ = c.WriteData(id, true, []byte("abc")) }},
		{"trailers", "", 0, -1, func(c *client, id uint32) { _ = c.askOn(id, true, "x: y") }},
		{"nothing", "NO_ERROR", time.Second / 2, -1, func(*client, uint32) {}},
		{"more than the window", "NO_ERROR", 0, -1, func(c *client, id uint32) {
			_ = c.WriteData(id, false, make([]byte, 16<<10))
		}},
		{"a length beyond the window", "NO_ERROR", 0, 16<<10 + 1, func(*client, uint32) {}},
		{"less", "PROTOCOL_ERROR", 0, 4, func(c *client, id uint32) { _ = c.WriteData(id, true, []byte("abc")) }},
		{"more", "PROTOCOL_ERROR", 0, 2, func(c *client, id uint32) { _ = c.WriteData(id, true, []byte("abc")) }},
		{
			"HEADERS without an end", "PROTOCOL_ERROR", 0, -1,
			func(c *client, id uint32) { _ = c.askOn(id, false, "x: y") },
		},
		{"a window that is too large", "FLOW_CONTROL_ERROR", 0, -1, func(c *client, id uint32) {
			_ = c.WriteWindowUpdate(id, 1<<31-1)
		}},
		{"a reset", "", 0, -1, func(c *client, id uint32) { _ = c.WriteRSTStream(id, framing.ErrCodeCancel) }},
	} {
		for mode, wrap := range modes() {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, wrap(plain), nil)
				c := s.open(t)
				var fields []string
				if tt.length >= 0 {
					fields = append(fields, fmt.Sprint("content-length: ", tt.length))
				}
				time.Sleep(50 * time.Millisecond)
				start := time.Now()
				id := c.ask(false, post("/", fields...)...)
				if a := c.receive(id); a.status != "200" || a.code != "" {
					t.Errorf("%s, %s: %v", tt.name, mode, a)
				}
				tt.send(c, id)
				if tt.want != "" {
					if a := c.receive(id); a.code != tt.want {
						t.Errorf("%s, %s: %v, want %s", tt.name, mode, a, tt.want)
					}
				}
				synctest.Wait()
				if took := time.Since(start); took != tt.after || !s.conn.idle.Load() {
					t.Errorf("%s, %s: after %s, idle %t", tt.name, mode, took, s.conn.idle.Load())
				}
				if a := c.receive(c.ask(true, get("/")...)); a.status != "200" {
					t.Errorf("%s, %s: then %v", tt.name, mode, a)
				}
			})
		}
	}
}

// A client that waits for 100 (Continue) gets it when the body is read: RFC 9110 section 10.1.1.
func TestExpect(t *testing.T) {
	t.Parallel()
	c := serve(t, later(func(r *httpmessage.Incoming, w writer) {
		if r.Target == "/own" {
			w.WriteInterim(100, nil)
		}
		if r.Target != "/no" {
			echo(r, w)
		}
	}), nil).open(t)
	for path, want := range map[string]string{"/": "[100]", "/own": "[100]", "/no": "[]"} {
		id := c.ask(false, post(path, "expect: 100-continue")...)
		var a answer
		for !a.ended {
			frame, err := c.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			if frame.Header().StreamID != id {
				continue
			}
			if a.take(frame); frame.Header().Type == framing.FrameHeaders && a.status == "" {
				_ = c.WriteData(id, true, []byte("abc"))
			}
		}
		if fmt.Sprint(a.interim) != want || path != "/no" && a.body != "-1 abc 3" {
			t.Errorf("%s: %v %v", path, a.interim, a)
		}
	}
	id := c.ask(false, post("/", "expect: 100-continue")...)
	_ = c.WriteData(id, true, []byte("abc"))
	if a := c.receive(id); a.body != "-1 abc 3" {
		t.Errorf("%v", a)
	}
}

// A part of a body has a deadline, of the server or of the handler. A handler may also interrupt reads, which
// is not an error of the client.
func TestBodyDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, later(func(r *httpmessage.Incoming, w writer) {
			begin := time.Now()
			switch r.Target {
			case "/own":
				_ = w.SetReadDeadline(begin.Add(time.Second))
			case "/cut":
				time.AfterFunc(time.Second, func() { _ = w.SetReadDeadline(time.Unix(1, 0)) })
			}
			n, err := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n, " ", errors.Is(err, os.ErrDeadlineExceeded), " ", time.Since(begin), " ", w.BodyTimedOut())
		}), func(c *http2.Config) {
			c.BodyDeadline = func() time.Time { return time.Now().Add(10 * time.Second) }
		}).open(t)
		for path, want := range map[string]string{
			"/": "6 true 19s true", "/own": "3 true 1s true",
			"/cut": "3 true 1s false",
		} {
			id := c.ask(false, post(path)...)
			_ = c.WriteData(id, false, []byte("abc"))
			time.Sleep(9 * time.Second)
			_ = c.WriteData(id, false, []byte("def"))
			if a := c.receive(id); a.body != want {
				t.Errorf("%s: %v, want %s", path, a, want)
			}
		}
	})
}

// Content is sent in both directions concurrently.
func TestFullDuplex(t *testing.T) {
	t.Parallel()
	c := serve(t, later(func(r *httpmessage.Incoming, w writer) {
		b := make([]byte, 100)
		for {
			n, err := r.Body.Read(b)
			if err != nil {
				return
			}
			_, _ = w.Write(b[:n])
			_ = w.Flush()
		}
	}), nil).open(t)
	id := c.ask(false, post("/")...)
	for i := range 20 {
		part := strings.Repeat("x", i+1)
		_ = c.WriteData(id, false, []byte(part))
		for got := ""; got != part; {
			frame, err := c.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			if f, ok := frame.(*framing.DataFrame); ok {
				got += string(f.Data())
			}
		}
	}
	_ = c.WriteData(id, true, nil)
	if a := c.receive(id); a.code != "" || a.body != "" {
		t.Errorf("%v", a)
	}
}

// While response content is sent, the client may wait for more of it before it sends the next part of its body.
func TestBodyDeadlineOfBothWays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, later(func(r *httpmessage.Incoming, w writer) {
			begin := time.Now()
			var sending sync.WaitGroup
			sending.Go(func() {
				for range 2 {
					time.Sleep(6 * time.Second)
					text(w, "x")
					_ = w.Flush()
				}
			})
			_, err := r.Body.Read(make([]byte, 1))
			sending.Wait()
			fmt.Fprint(w, " ", errors.Is(err, os.ErrDeadlineExceeded), " ", time.Since(begin), " ", w.BodyTimedOut())
		}), func(c *http2.Config) {
			c.BodyDeadline = func() time.Time { return time.Now().Add(10 * time.Second) }
		}).open(t)
		if a := c.receive(c.ask(false, post("/")...)); a.body != "xx true 30s true" {
			t.Errorf("%v", a)
		}
	})
}
