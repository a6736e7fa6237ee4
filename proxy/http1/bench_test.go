package http1_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http1"
)

const browser = "GET /cached HTTP/1.1\r\nHost: example.org\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0)\r\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Language: en-US,en;q=0.5\r\n" +
	"Accept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\n\r\n"

// cached answers like a cache hit.
func cached(size int) handler {
	fields := httpmessage.NewFields("Content-Type", "text/plain", "Content-Length", strconv.Itoa(size),
		"Cache-Control", "max-age=60", "ETag", `"a"`, "Vary", "Accept")
	content := []byte(strings.Repeat("a", size))
	return func(_ *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
		w.WriteHeader(http.StatusOK, "", fields)
		_, _ = w.Write(content)
		return nil
	}
}

// replay is a connection that repeatedly sends the same bytes, without system calls.
type replay struct {
	*end
	request []byte
	left    int
}

func (r *replay) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	r.left--
	return copy(p, r.request), nil
}
func (*replay) Write(p []byte) (int, error)                     { return len(p), nil }
func (*replay) WriteBuffers(b net.Buffers) (n int64, err error) { return b.WriteTo(io.Discard) }
func (*replay) SetReadDeadline(time.Time) error                 { return nil }
func (*replay) Close() error                                    { return nil }
func (*replay) SetServing() bool                                { return true }
func (*replay) SetIdle()                                        {}
func (*replay) BeginWait() context.Context                      { return context.Background() }
func (*replay) EndWait()                                        {}

func benchmark(b *testing.B, request string, h handler) {
	w := newWorld(h)
	conn := &replay{end: w.server, request: []byte(request), left: b.N}
	server := http1.NewServer(w.config)
	b.ReportAllocs()
	b.ResetTimer()
	server.Serve(conn)
}

func BenchmarkServe(b *testing.B) {
	b.Run("cached", func(b *testing.B) { benchmark(b, browser, cached(300)) })
	b.Run("16 pipelined", func(b *testing.B) { benchmark(b, strings.Repeat(get, 16), cached(300)) })
	b.Run("64 KiB", func(b *testing.B) { benchmark(b, get, cached(64<<10)) })
	b.Run("waits", func(b *testing.B) {
		h := cached(300)
		benchmark(b, get, func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
			return later(func() { _ = h(r, w) })
		})
	})
}

// tcp is a TCP connection of the tests.
type tcp struct {
	*net.TCPConn
	*end
}

func (c tcp) Read(p []byte) (int, error)                      { return c.TCPConn.Read(p) }
func (c tcp) Write(p []byte) (int, error)                     { return c.TCPConn.Write(p) }
func (c tcp) ReadFrom(r io.Reader) (int64, error)             { return c.TCPConn.ReadFrom(r) }
func (c tcp) WriteBuffers(b net.Buffers) (n int64, err error) { return b.WriteTo(c.TCPConn) }
func (c tcp) SetDeadline(t time.Time) error                   { return c.TCPConn.SetDeadline(t) }
func (c tcp) SetReadDeadline(t time.Time) error               { return c.TCPConn.SetReadDeadline(t) }

func (c tcp) SetWriteDeadline(t time.Time) error { return c.TCPConn.SetWriteDeadline(t) }
func (c tcp) RemoteAddr() net.Addr               { return c.TCPConn.RemoteAddr() }
func (c tcp) LocalAddr() net.Addr                { return c.TCPConn.LocalAddr() }
func (c tcp) CloseWrite() error                  { return c.TCPConn.CloseWrite() }
func (c tcp) Close() error                       { return c.TCPConn.Close() }
func (c tcp) Linger() error                      { return c.TCPConn.Close() }

// dial returns a client of a handler over TCP.
func dial(tb testing.TB, h handler) net.Conn {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	w := newWorld(h)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		http1.NewServer(w.config).Serve(tcp{accepted.(*net.TCPConn), w.server})
	}()
	tb.Cleanup(func() { _ = client.Close(); <-ended })
	return client
}

func BenchmarkTCP(b *testing.B) {
	client := dial(b, cached(300))
	request, in := []byte(browser), make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := client.Read(in); err != nil {
			b.Fatal(err)
		}
	}
}

// A file is sent without copying it, if the response has a length.
func TestSendFile(t *testing.T) {
	content := strings.Repeat("file\n", 20_000)
	name := t.TempDir() + "/file"
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	client := dial(t, func(_ *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
		file, err := os.Open(name)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer file.Close()
		w.WriteHeader(http.StatusOK, "", httpmessage.NewFields("Content-Length", strconv.Itoa(len(content))))
		if n, err := w.ReadFrom(io.LimitReader(file, int64(len(content)))); n != int64(len(content)) || err != nil {
			t.Errorf("sent %d bytes: %v", n, err)
		}
		return nil
	})
	in := bufio.NewReader(client)
	for range 2 {
		if _, err := io.WriteString(client, get); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if string(got) != content || err != nil {
			t.Errorf("got %d bytes: %v", len(got), err)
		}
	}
}
