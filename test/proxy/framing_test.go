//go:build e2e

package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestFraming tests the framing of messages over real sockets.
func TestFraming(t *testing.T) {
	t.Parallel()
	p := urndtest.Start(t, noDNS, openTunnels)
	for _, part := range []struct {
		name string
		test func(*testing.T, *urndtest.Daemon)
	}{
		{"an origin that breaks off", testBrokenBody},
		{"the end of what breaks off", testEndOfBrokenBody},
		{"a huge body", testHugeBody},
		{"a WebSocket", testWebSocket},
		{"half of a tunnel", testHalfTunnel},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, p) })
	}
}

// dialProxy connects to a proxy and sends a text.
func dialProxy(t *testing.T, p *urndtest.Daemon, text string) (*net.TCPConn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", at(p.URL))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testserver.Timeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn), bufio.NewReader(conn)
}

// rawOrigin responds to each request with a text and closes the connection. It returns its address and the
// number of requests.
func rawOrigin(t *testing.T, answer string) (addr string, requested *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requested = new(atomic.Int32)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				requested.Add(1)
				_, _ = io.WriteString(conn, answer)
			}
			conn.Close()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	return listener.Addr().String(), requested
}

// testBrokenBody checks that a body that its origin truncates is also incomplete for the client, and not
// stored: RFC 9112 section 8, RFC 9111 section 3.3.
func testBrokenBody(t *testing.T, p *urndtest.Daemon) {
	for _, tt := range []struct {
		name, head, body string
		complete         bool
	}{
		{
			"Content-Length", "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\n",
			"12345", false,
		},
		{
			"chunked, between chunks",
			"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n",
			"5\r\n12345\r\n", false,
		},
		{
			"chunked, in a chunk", "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n",
			"a\r\n12345", false,
		},
		{
			"chunked, in its last line",
			"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n",
			"5\r\n12345\r\n0\r\n", false,
		},
		{
			"chunked, to its end", "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n",
			"5\r\n12345\r\n0\r\n\r\n", true,
		},
		{
			"Content-Length, to its end", "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\n",
			"12345", true,
		},
	} {
		addr, requested := rawOrigin(t, tt.head+tt.body)
		for i := range 2 {
			for _, version := range []string{"HTTP/1.1", "HTTP/1.0"} {
				_, reader := dialProxy(t, p, fmt.Sprintf("GET http://%s/ %s\r\nHost: %s\r\n\r\n", addr, version, addr))
				got, err := http.ReadResponse(reader, nil)
				if err != nil {
					if tt.complete {
						t.Errorf("%s %d %s: %v", tt.name, i, version, err)
					}
					continue
				}
				body, err := io.ReadAll(got.Body)
				// A body delimited by the end of the connection cannot be incomplete.
				if broken := err != nil; broken == tt.complete && (version != "HTTP/1.0" || got.ContentLength >= 0) {
					t.Errorf("%s %d %s: %q, %v, %s", tt.name, i, version, body, err, got.Header)
				}
				if strings.HasPrefix(got.Header.Get("Cache-Status"), "urnd; hit") && !tt.complete {
					t.Errorf("%s %d %s: it was stored", tt.name, i, version)
				}
			}
		}
		if n := requested.Load(); tt.complete != (n == 1) {
			t.Errorf("%s: the origin was asked %d times", tt.name, n)
		}
	}
}

// testEndOfBrokenBody checks that a slow client gets the complete received part of a truncated body, and that
// the connection is closed after it if the client can detect that it is incomplete: RFC 9112 section 8. In
// HTTP/1.0 a body without length ends with a reset.
func testEndOfBrokenBody(t *testing.T, p *urndtest.Daemon) {
	const size = 1 << 20
	body := strings.Repeat("x", size)
	whole := "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
	for name, answer := range map[string]string{
		"Content-Length": whole + "Content-Length: 2097152\r\n\r\n" + body,
		"not stored": strings.Replace(whole, "max-age=60", "no-store",
			1) + "Content-Length: 2097152\r\n\r\n" + body,
		"too large":   whole + "Content-Length: 2097152000\r\n\r\n" + body,
		"chunked":     whole + "Transfer-Encoding: chunked\r\n\r\n200000\r\n" + body,
		"chunks":      whole + "Transfer-Encoding: chunked\r\n\r\n100000\r\n" + body + "\r\n",
		"short":       whole + "Content-Length: 10\r\n\r\n12345",
		"short chunk": whole + "Transfer-Encoding: chunked\r\n\r\na\r\n12345",
	} {
		for _, version := range []string{"HTTP/1.1", "HTTP/1.0"} {
			addr, _ := rawOrigin(t, answer)
			_, reader := dialProxy(t, p, fmt.Sprintf("GET http://%s/ %s\r\nHost: %s\r\n\r\n", addr, version, addr))
			waitBelow(t, p, `urnd_limit_used\{limit="connections"\}`, 0) // urnd has closed it, and nothing was read yet
			got, err := io.ReadAll(reader)
			_, content, _ := strings.Cut(string(got), "\r\n\r\n")
			framed := version == "HTTP/1.1" || strings.Contains(string(got), "\r\nContent-Length: ")
			want := strings.Count(answer, "x") - strings.Count(whole, "x") + strings.Count(answer, "12345")*len("12345")
			size := strings.Count(content, "x") + strings.Count(content, "12345")*len("12345")
			if framed && (err != nil || size < want || strings.HasSuffix(content, "\r\n0\r\n\r\n")) {
				t.Errorf("%s, %s: %d bytes of %d, %v", name, version, size, want, err)
			}
			if !framed && err == nil {
				t.Errorf("%s, %s: it looks whole", name, version)
			}
		}
	}
}

// testHugeBody transfers 4 GiB while the heap does not grow.
func testHugeBody(t *testing.T, p *urndtest.Daemon) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	skipWithRace(t)
	const size = 4 << 30
	zeros := make([]byte, 1<<20)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", strconv.Itoa(size))
		}
		for range size / len(zeros) {
			if _, err := w.Write(zeros); err != nil {
				t.Error(err)
				return
			}
		}
	}))
	defer origin.Close()
	conn, reader := dialProxy(t, p, "GET "+origin.URL+"/length HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	got, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	buffer, most, total := make([]byte, 1<<20), 0.0, int64(0)
	for next := int64(0); err == nil; {
		var n int
		n, err = got.Body.Read(buffer)
		if total += int64(n); total > next {
			next += size / 16
			if err := conn.SetDeadline(time.Now().Add(testserver.Timeout)); err != nil {
				t.Fatal(err)
			}
			most = max(most, scraped(t, p, "go_memstats_heap_inuse_bytes"))
		}
	}
	if total != size || !errors.Is(err, io.EOF) || most > 48<<20 {
		t.Errorf("%d bytes, %v, while the heap had up to %.1f MiB", total, err, most/(1<<20))
	}
	t.Logf("heap up to %.1f MiB", most/(1<<20))
}

// testWebSocket checks that data after a protocol switch is forwarded in both directions, here in frames of RFC
// 6455.
func testWebSocket(t *testing.T, p *urndtest.Daemon) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Sec-WebSocket-Key") != "dGhlIHNhbXBsZSBub25jZQ==" {
			http.Error(w, "this is for WebSockets", http.StatusUpgradeRequired)
			return
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn,
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "+
				"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n\x81\x05hello")
		_, _ = io.Copy(conn, buffered) // echoes
	}))
	defer origin.Close()
	// The frame is sent with the request.
	conn, reader := dialProxy(t, p,
		"GET "+origin.URL+
			"/ HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: "+
			"dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n\x81\x85\x00\x00\x00\x00early")
	got, err := http.ReadResponse(reader, nil)
	if err != nil || got.StatusCode != http.StatusSwitchingProtocols ||
		got.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Fatalf("%v, %+v", err, got)
	}
	fmt.Fprint(conn, "\x81\x84\x00\x00\x00\x00late")
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(reader)
	if want := "\x81\x05hello\x81\x85\x00\x00\x00\x00early\x81\x84\x00\x00\x00\x00late"; string(rest) != want ||
		err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

// testHalfTunnel checks that each side of a tunnel may half-close and continue to receive: RFC 9110 section
// 9.3.6.
func testHalfTunnel(t *testing.T, p *urndtest.Daemon) {
	for _, first := range []string{"client", "server"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		conn, reader := dialProxy(t, p, fmt.Sprintf("CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", listener.Addr()))
		accepted, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer accepted.Close()
		got, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
		if err != nil || got.StatusCode != http.StatusOK {
			t.Fatalf("%v, %+v", err, got)
		}
		if err := accepted.SetDeadline(time.Now().Add(testserver.Timeout)); err != nil {
			t.Fatal(err)
		}
		client, server := tunnelEnd{conn, reader}, tunnelEnd{accepted.(*net.TCPConn), accepted}
		a, b := client, server
		if first == "server" {
			a, b = server, client
		}
		question, answer := string(urndtest.RandomBytes(1_000_000)), string(urndtest.RandomBytes(2_000_000))
		go func() {
			_, _ = io.WriteString(a.conn, question)
			_ = a.conn.CloseWrite()
		}()
		if text, err := io.ReadAll(b.reader); string(text) != question || err != nil {
			t.Errorf("the %s ends first: %d bytes, %v", first, len(text), err)
		}
		go func() {
			_, _ = io.WriteString(b.conn, answer)
			_ = b.conn.CloseWrite()
		}()
		if text, err := io.ReadAll(a.reader); string(text) != answer || err != nil {
			t.Errorf("the answer to the %s: %d bytes, %v", first, len(text), err)
		}
	}
	waitBelow(t, p, `urnd_limit_used\{limit="streams"\}`, 0)
}

// tunnelEnd is one end of a tunnel.
type tunnelEnd struct {
	conn   *net.TCPConn
	reader io.Reader
}
