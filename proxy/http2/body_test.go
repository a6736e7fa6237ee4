package http2_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	framing "golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http2"
)

// echo sends back what it is sent, and says how that has ended.
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

// The windows of a client are 256 KiB for all streams and for each, and grow with what is read: RFC 9113 section 5.2.
func TestReceiveWindow(t *testing.T) {
	t.Parallel()
	const window = 256 << 10
	release := make(chan int)
	c := serve(t, later(func(r *httpmessage.Incoming, w writer) {
		n, err := io.CopyN(io.Discard, r.Body, int64(<-release))
		fmt.Fprint(w, n, err)
	}), nil).open(t)
	stream, connection := uint32(65535), uint32(65535)
	updated := func(until func() bool) {
		for !until() {
			frame, err := c.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			switch f := frame.(type) {
			case *framing.SettingsFrame:
				if value, ok := f.Value(framing.SettingInitialWindowSize); ok {
					stream = value
				}
			case *framing.WindowUpdateFrame:
				if f.StreamID == 0 {
					connection += f.Increment
				} else {
					stream += f.Increment
				}
			}
		}
	}
	if updated(func() bool { return connection > 65535 }); stream != window || connection != window {
		t.Fatalf("%d %d", stream, connection)
	}
	id := c.ask(false, post("/")...)
	for range window / (16 << 10) {
		_ = c.WriteData(id, false, make([]byte, 16<<10))
	}
	connection -= window
	release <- window / 2
	// What was sent and not read is given back to the window of the connection when the stream ends, but for what is
	// worth no frame.
	updated(func() bool { return connection > window*7/8 })
	id = c.ask(false, post("/")...)
	for range window * 3 / 4 / (16 << 10) {
		_ = c.WriteData(id, false, make([]byte, 16<<10))
	}
	release <- window * 3 / 4
	if a := c.receive(id); a.body != fmt.Sprint(window*3/4, nil) {
		t.Errorf("%v", a)
	}
}

// A body that is complete and that no handler has read is given back to the window of the connection, too.
func TestReceiveWindowOfUnread(t *testing.T) {
	t.Parallel()
	const window, part = 256 << 10, 16 << 10
	release := make(chan struct{})
	c := serve(t, later(func(*httpmessage.Incoming, writer) { <-release }), nil).open(t)
	available := 65535
	for sent := 0; sent < 2*window; sent += part {
		if available < part {
			t.Fatalf("the window has %d bytes after %d", available, sent)
		}
		id := c.ask(false, post("/")...)
		_ = c.WriteData(id, true, make([]byte, part))
		available -= part
		_ = c.WritePing(false, [8]byte{}) // behind whose acknowledgement the body is there
		for answered, ended := false, false; !ended; {
			frame, err := c.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			switch f := frame.(type) {
			case *framing.PingFrame:
				if !answered {
					answered = true
					release <- struct{}{}
				}
			case *framing.WindowUpdateFrame:
				available += int(f.Increment)
			case *framing.MetaHeadersFrame:
				ended = f.StreamEnded()
			}
		}
	}
}

// More than a window is an error of the stream or of the connection: RFC 9113 section 6.9.1.
func TestReceiveWindowOverflow(t *testing.T) {
	t.Parallel()
	c := serve(t, later(func(_ *httpmessage.Incoming, w writer) { <-w.Context().Done() }), nil).open(t)
	a, b := c.ask(false, post("/")...), c.ask(false, post("/")...)
	for i := range 256 / 16 {
		_ = c.WriteData([]uint32{a, b}[i%2], false, make([]byte, 16<<10))
	}
	_ = c.WriteData(b, false, make([]byte, 1))
	if got := c.receive(b); got.code != "GOAWAY FLOW_CONTROL_ERROR" {
		t.Errorf("%v", got)
	}
}

// A response that comes before the end of the request ends the stream without an error: RFC 9113 section 8.1. What the
// client has sent meanwhile is ignored, and given back to its window.
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

// A client that waits for an interim response gets one when the body is read: RFC 9110 section 10.1.1.
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
			if a.take(frame); len(a.interim) > 0 && a.status == "" {
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

// A part of a body has a deadline, that of the server or of the handler, who may also end reads for which the client is not to blame.
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
			fmt.Fprint(w, n, " ", errors.Is(err, os.ErrDeadlineExceeded), " ", time.Since(begin), " ", w.BodyLate())
		}), func(c *http2.Config) {
			c.BodyDeadline = func() time.Time { return time.Now().Add(10 * time.Second) }
		}).open(t)
		for path, want := range map[string]string{"/": "6 true 19s true", "/own": "3 true 1s true", "/cut": "3 true 1s false"} {
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

// Content goes both ways at a time.
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
