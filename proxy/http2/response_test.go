package http2_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	framing "golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http2"
)

type writer = httpmessage.ResponseWriter

// The framing of responses by the handler's calls, equal for Begin and Continue.
func TestResponses(t *testing.T) {
	t.Parallel()
	head := func(w writer, status int, fields ...string) {
		w.WriteHeader(status, "", httpmessage.NewFields(fields...))
	}
	big := strings.Repeat("0123456789", 5000)
	for _, tt := range []struct {
		name   string
		answer func(w writer)
		get    string // status, length, content, trailers and code
		head   string
	}{
		{"nothing", func(writer) {}, "200 0 '' [] ", "200 - '' [] "},
		{"text", func(w writer) { text(w, "abc") }, "200 3 'abc' [] ", "200 3 '' [] "},
		{
			"two texts", func(w writer) { text(w, "abc"); text(w, ""); text(w, "def") },
			"200 6 'abcdef' [] ", "200 6 '' [] ",
		},
		{"2 KiB", func(w writer) { text(w, big[:2048]) }, "200 2048 '" + big[:2048] + "' [] ", "200 2048 '' [] "},
		{
			"more", func(w writer) { text(w, big[:1000]); text(w, big[1000:]) },
			"200 - '" + big + "' [] ", "200 - '' [] ",
		},
		{
			"a length", func(w writer) { head(w, 200, "Content-Length", "3"); text(w, "abc") },
			"200 3 'abc' [] ", "200 3 '' [] ",
		},
		{"a length of nothing", func(w writer) { head(w, 404, "Content-Length", "0") }, "404 0 '' [] ", "404 0 '' [] "},
		{
			"a large length", func(w writer) { head(w, 200, "Content-Length", fmt.Sprint(len(big))); text(w, big) },
			"200 50000 '" + big + "' [] ", "200 50000 '' [] ",
		},
		{
			"less than that", func(w writer) { head(w, 200, "Content-Length", "5"); text(w, "abc") },
			"200 5 'abc' [] INTERNAL_ERROR", "200 5 '' [] ",
		},
		{"more than that", func(w writer) {
			head(w, 200, "Content-Length", "3")
			text(w, "ab")
			if n, err := io.WriteString(w, "cd"); err == nil || n != 0 {
				text(w, "?")
			}
		}, "200 3 'ab' [] INTERNAL_ERROR", "200 3 '' [] "},
		{
			"a length that is none", func(w writer) { head(w, 200, "Content-Length", "x"); text(w, "abc") },
			"200 3 'abc' [] ", "200 3 '' [] ",
		},
		{"204", func(w writer) { head(w, 204, "Content-Length", "0"); text(w, "no") }, "204 - '' [] ", "204 - '' [] "},
		{
			"304", func(w writer) { head(w, 304, "Content-Length", "7", "Etag", "x"); text(w, "no") },
			"304 - '' [] ", "304 - '' [] ",
		},
		{
			"flushed", func(w writer) { text(w, "abc"); _ = w.Flush(); text(w, "def") },
			"200 - 'abcdef' [] ", "200 - '' [] ",
		},
		{
			"a flushed head", func(w writer) { head(w, 201); _ = w.Flush(); text(w, "def") },
			"201 - 'def' [] ", "201 - '' [] ",
		},
		{"a flush of nothing", func(w writer) { _ = w.Flush() }, "200 - '' [] ", "200 - '' [] "},
		{"buffers", func(w writer) {
			head(w, 200, "Content-Length", "6")
			_, _ = w.WriteBuffers([][]byte{[]byte("ab"), nil, []byte("cdef")})
		}, "200 6 'abcdef' [] ", "200 6 '' [] "},
		{
			"a reader", func(w writer) { _, _ = w.ReadFrom(strings.NewReader(big)) },
			"200 - '" + big + "' [] ", "200 - '' [] ",
		},
		{"trailers", func(w writer) {
			head(w, 200, "Trailer", "X-T")
			text(w, "abc")
			w.SetTrailer(httpmessage.NewFields("X-T", "1", "Connection", "x"))
		}, "200 - 'abc' [x-t: 1] ", "200 - '' [] "},
		{
			"unannounced trailers", func(w writer) { text(w, big); w.SetTrailer(httpmessage.NewFields("X-T", "1")) },
			"200 - '" + big + "' [x-t: 1] ", "200 - '' [] ",
		},
		{
			"trailers of nothing", func(w writer) { w.SetTrailer(httpmessage.NewFields("X-T", "1")) },
			"200 - '' [x-t: 1] ", "200 - '' [] ",
		},
		{"trailers behind a length", func(w writer) {
			head(w, 200, "Content-Length", "3", "Trailer", "X-T")
			text(w, "abc")
			w.SetTrailer(httpmessage.NewFields("X-T", "1"))
		}, "200 3 'abc' [x-t: 1] ", "200 3 '' [] "},
		{
			"an abort", func(w writer) { text(w, "abc"); _ = w.Flush(); w.Abort(); text(w, "def") },
			"200 - 'abc' [] INTERNAL_ERROR", "200 - '' [] ",
		},
		{"an abort before all", func(w writer) { w.Abort() }, " - '' [] INTERNAL_ERROR", " - '' [] INTERNAL_ERROR"},
		{"a second head", func(w writer) { head(w, 404); head(w, 200); text(w, "a") }, "404 1 'a' [] ", "404 1 '' [] "},
		{"an odd status", func(w writer) { head(w, 299); text(w, "a") }, "299 1 'a' [] ", "299 1 '' [] "},
	} {
		for mode, wrap := range modes() {
			t.Run(tt.name+", "+mode, func(t *testing.T) {
				t.Parallel()
				c := serve(t, wrap(func(_ *httpmessage.Incoming, w writer) { tt.answer(w) }), nil).open(t)
				for method, want := range map[string]string{"GET": tt.get, "HEAD": tt.head} {
					a := c.receive(c.ask(true, append([]string{":method: " + method}, get("/")[1:]...)...))
					length := a.field("content-length")
					if length == "" {
						length = "-"
					}
					got := fmt.Sprintf("%s %s '%s' %v %s", a.status, length, a.body, a.trailers, a.code)
					if got != want {
						t.Errorf("%s: %.200s, want %.200s", method, got, want)
					}
				}
			})
		}
	}
}

// Fields are sent in lower case and in order, without those of HTTP/1 and without line ends.
func TestFieldsOfResponses(t *testing.T) {
	t.Parallel()
	c := serve(t, atOnce(func(_ *httpmessage.Incoming, w writer) {
		w.WriteHeader(200, "Fine", httpmessage.NewFields("X-B", " 1 ", "x-a", "a\r\nb\x00c\xe4",
			"Transfer-Encoding", "chunked", "Keep-Alive", "1",
			"Upgrade", "x", "X A", "1", "Date", "never", "", "x", "X-B", "2", "Content-Length", "0"))
	}), nil).open(t)
	a := c.receive(c.ask(true, get("/")...))
	const want = `["x-b: 1" "x-a: a  b c\xe4" "date: never" "x-b: 2" "content-length: 0"]`
	if got := fmt.Sprintf("%q", a.fields); got != want {
		t.Errorf("%s", got)
	}
}

// A header that exceeds a frame has CONTINUATION frames.
func TestLargeHead(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("\xfe", 50_000)
	c := serve(t, atOnce(func(_ *httpmessage.Incoming, w writer) {
		w.WriteHeader(200, "", httpmessage.NewFields("X-Large", value))
		text(w, "abc")
	}), nil).open(t)
	for range 2 {
		if a := c.receive(c.ask(true, get("/")...)); a.field("x-large") != value || a.body != "abc" {
			t.Errorf("%v", a)
		}
	}
}

// Interim responses precede the final one: RFC 9113 section 8.1.
func TestInterim(t *testing.T) {
	t.Parallel()
	c := serve(t, later(func(_ *httpmessage.Incoming, w writer) {
		w.WriteInterim(103, httpmessage.NewFields("Link", "</a>", "Content-Length", "3"))
		w.WriteInterim(101, nil)
		w.WriteInterim(200, nil)
		text(w, "abc")
		_ = w.Flush()
		w.WriteInterim(103, nil)
	}), nil).open(t)
	if a := c.receive(c.ask(true, get("/")...)); fmt.Sprint(a.interim) != "[103 link: </a>]" || a.body != "abc" {
		t.Errorf("%v %v", a.interim, a)
	}
}

// A panic ends one stream, and the connection continues.
func TestPanic(t *testing.T) {
	t.Parallel()
	for name, wrap := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			panics := make(chan string, 10)
			c := serve(t, wrap(func(r *httpmessage.Incoming, w writer) {
				if r.Target == "/panic" {
					text(w, "abc")
					panic("oops")
				}
				plain(r, w)
			}), func(c *http2.Config) {
				c.Panicked = func(value any, stack []byte) {
					panics <- fmt.Sprint(value, " ", bytes.Contains(stack, []byte("TestPanic")))
				}
			}).open(t)
			for range 3 {
				if a := c.receive(c.ask(true, get("/panic")...)); a.code != "INTERNAL_ERROR" {
					t.Errorf("%v", a)
				}
				if got := <-panics; got != "oops true" {
					t.Error(got)
				}
				if a := c.receive(c.ask(true, get("/")...)); a.status != "200" {
					t.Errorf("%v", a)
				}
			}
		})
	}
}

// The context of a request ends with its stream, and writes then fail; other streams continue.
func TestReset(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	began := make(chan struct{})
	s := serve(t, later(func(r *httpmessage.Incoming, w writer) {
		if r.Target == "/" {
			plain(r, w)
			return
		}
		close(began)
		<-w.Context().Done()
		_, err := w.Write(make([]byte, 10_000))
		ended <- errors.Join(err, w.Flush())
	}), nil)
	c := s.open(t)
	id := c.ask(true, get("/wait")...)
	<-began
	_ = c.WriteRSTStream(id, framing.ErrCodeCancel)
	if err := <-ended; err == nil {
		t.Error("no error reports that the stream was reset")
	}
	if a := c.receive(c.ask(true, get("/")...)); a.status != "200" {
		t.Errorf("%v", a)
	}
	for s.conn.waits.Load() != 0 {
	}
}

// Requests received in one read are answered by one write.
func TestOneWrite(t *testing.T) {
	t.Parallel()
	s := serve(t, atOnce(plain), nil)
	c := s.open(t)
	c.receive(c.ask(true, get("/")...))
	var frames bytes.Buffer
	down := s.client.in
	sent := func() int {
		down.mu.Lock()
		defer down.mu.Unlock()
		return down.writes
	}
	before := sent()
	c.Framer = framing.NewFramer(&frames, s.client)
	last := uint32(0)
	for range 16 {
		last = c.ask(true, get("/")...)
	}
	_, _ = s.client.Write(frames.Bytes())
	c.Framer = newClient(t, s.client).Framer
	if c.receive(last); sent() != before+1 {
		t.Errorf("%d writes", sent()-before)
	}
}
