package http_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

const empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// opaque hides the type of a reader.
type opaque struct{ io.Reader }

// TestRequests requires that requests are framed canonically.
func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		section, method, path string
		header                httpmessage.Fields
		body                  string
		length                int64
		trailer               *httpmessage.Trailer
		want                  string
	}{
		{
			"RFC 9112 section 3.2.1", "GET", "/a//b/../%7e;c?d&e=?", nil, "", 0, nil,
			"GET /a//b/../%7e;c?d&e=? HTTP/1.1\r\nHost: HOST\r\n\r\n",
		},
		{"RFC 9112 section 3.2.1: no path", "GET", "?a", nil, "", 0, nil, "GET /?a HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{"RFC 9112 section 3.2.4", "OPTIONS", "", nil, "", 0, nil, "OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{"RFC 9112 section 3.2.4: a path", "OPTIONS", "/", nil, "", 0, nil, "OPTIONS / HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{
			"RFC 9112 section 3.2: Host of the URI", "GET", "/",
			httpmessage.NewFields("hOST", "other", "B", "2", "B", "", "A", "\xe9", "b", "1", "User-Agent", ""),
			"", 0, nil, "GET / HTTP/1.1\r\nHost: HOST\r\nB: 2\r\nB: \r\nA: \xe9\r\nb: 1\r\n\r\n",
		},
		{
			"RFC 9112 section 6.3: no framing of the caller", "GET", "/",
			httpmessage.NewFields("Transfer-Encoding", "chunked", "Connection", "a", "Keep-Alive", "b",
				"Proxy-Connection", "c", "Trailer", "d", "Expect",
				"100-continue", "X", "1"),
			"", 0, nil, "GET / HTTP/1.1\r\nHost: HOST\r\nX: 1\r\n\r\n",
		},
		{
			"RFC 9110 section 8.6: a length of 0", "POST", "/", nil, "", 0, nil,
			"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\n\r\n",
		},
		{
			"RFC 9110 section 8.6: kept", "DELETE", "/", httpmessage.NewFields("Content-Length", "0"), "", 0, nil,
			"DELETE / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\n\r\n",
		},
		{"RFC 9110 section 8.6: none", "DELETE", "/", nil, "", 0, nil, "DELETE / HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{
			"RFC 9110 section 8.6", "PUT", "/", httpmessage.NewFields("Content-Length", "77"), "body", 4, nil,
			"PUT / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\n\r\nbody",
		},
		{
			"RFC 9112 section 7.1", "PUT", "/", nil, "body", -1, nil,
			"PUT / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
		},
		{
			"RFC 9112 section 7.1: GET", "GET", "/", nil, "body", -1, nil,
			"GET / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
		},
		{
			"RFC 9112 section 7.1.2", "PUT", "/",
			httpmessage.NewFields("Te", "trailers"),
			"body", 4,
			&httpmessage.Trailer{Names: []string{"A", "B"}, Fields: httpmessage.NewFields("B", "1", "B", "2")},
			"PUT / HTTP/1.1\r\nHost: HOST\r\nTE: trailers\r\nConnection: TE\r\nTransfer-Encoding: " +
				"chunked\r\nTrailer: A, B\r\n\r\n4\r\nbody\r\n0\r\nB: 1\r\nB: 2\r\n\r\n",
		},
		{
			"RFC 9110 section 7.6.1: close", "GET", "/",
			httpmessage.NewFields("Te", "gzip, trailers;q=1", "Connection", "close"),
			"", 0, nil,
			"GET / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n",
		},
	} {
		t.Run(tt.section, func(t *testing.T) {
			got := make(chan string, 1)
			o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
				b := make([]byte, 0, len(tt.want)+100)
				want := len(strings.ReplaceAll(tt.want, "HOST", c.LocalAddr().String()))
				for len(b) < want {
					n, err := in.Read(b[len(b):cap(b)])
					if err != nil {
						break
					}
					b = b[:len(b)+n]
				}
				got <- string(b)
				_, _ = io.WriteString(c, empty)
				_, _ = in.ReadByte()
			})
			r := scheme.Request{Request: httpmessage.Request{
				Method: tt.method, URI: parse(t, "http://user:pass@"+o.addr+tt.path), Fields: tt.header,
				ContentLength: tt.length, Trailer: tt.trailer,
			}}
			if tt.body != "" {
				r.Body = opaque{strings.NewReader(tt.body)}
			}
			fetch(t, newHandler(t, nil), r)
			if want := strings.ReplaceAll(tt.want, "HOST", o.addr); <-got != want {
				t.Errorf("want %q", want)
			}
		})
	}
}

// TestInvalidRequests requires that invalid parts, which would break the framing, are rejected: RFC 9110
// section 5.5, RFC 9112 section 3.
func TestInvalidRequests(t *testing.T) {
	h := newHandler(t, func(c *schemehttp.Config) {
		c.Dial = func(context.Context, string, string) (net.Conn, error) {
			t.Error("connects")
			return nil, io.EOF
		}
	})
	for name, r := range map[string]scheme.Request{
		"CR": {Request: httpmessage.Request{
			Method: "GET",
			Fields: httpmessage.NewFields("A", "b\rc"),
		}},
		"LF": {Request: httpmessage.Request{
			Method: "GET",
			Fields: httpmessage.NewFields("A", "b\nc"),
		}},
		"NUL": {Request: httpmessage.Request{
			Method: "GET",
			Fields: httpmessage.NewFields("A", "\x00"),
		}},
		"name": {Request: httpmessage.Request{
			Method: "GET",
			Fields: httpmessage.NewFields("A: b\r\nC", "d"),
		}},
		"no name": {Request: httpmessage.Request{
			Method: "GET",
			Fields: httpmessage.NewFields("", "d"),
		}},
		"method":                                 {Request: httpmessage.Request{Method: "GET / HTTP/1.1\r\nA:"}},
		"no method":                              {},
		"the tunnel":                             {Request: httpmessage.Request{Method: "CONNECT"}},
		"the tunnel, for proxies that fold case": {Request: httpmessage.Request{Method: "Connect"}},
	} {
		r.URI = parse(t, "http://a.example/")
		if _, err := h.Fetch(t.Context(), r); err == nil || errors.Is(err, resolver.ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := h.Fetch(t.Context(),
		scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, "http:a")}}); err == nil {
		t.Error("no host")
	}
}

// TestExpectContinue: the body is delayed until a 100, a final response or the timeout: RFC 9110 section
// 10.1.1.
func TestExpectContinue(t *testing.T) {
	const head = "Content-Length: 4\r\n"
	for _, tt := range []struct {
		name    string
		message string // sent after the head of the request
		timeout time.Duration
		sent    bool
		status  int
	}{
		{"100", "HTTP/1.1 100 Continue\r\n\r\n", time.Hour, true, 200},
		{
			"another interim response first", "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", time.Hour,
			true, 200,
		},
		{"a final response", "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n", time.Hour, false, 417},
		{"silence", "", time.Millisecond, true, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := make(chan string, 1)
			o := serve(t, func(n int, c net.Conn, in *bufio.Reader) {
				if requested := readHead(in); !strings.Contains(requested, "Expect: 100-continue\r\n"+head) {
					t.Errorf("asked %q", requested)
				}
				if in.Buffered() > 0 {
					t.Error("the body came first")
				}
				_, _ = io.WriteString(c, tt.message)
				b := make([]byte, 4)
				read, _ := io.ReadFull(in, b)
				got <- string(b[:read])
				_, _ = io.WriteString(c, empty)
			})
			h := newHandler(t, func(c *schemehttp.Config) { c.ContinueTimeout = tt.timeout })
			r, _ := fetch(t, h, scheme.Request{
				Request: httpmessage.Request{
					Method: "PUT", URI: parse(t, "http://"+o.addr+"/"),
					Fields: httpmessage.NewFields("Expect", "100-Continue"), Body: strings.NewReader("body"),
					ContentLength: 4,
				},
			})
			if sent := <-got == "body"; sent != tt.sent || r.Status != tt.status {
				t.Errorf("sent: %t, status %d", sent, r.Status)
			}
		})
	}
}

var errBroken = errors.New("broken")

// broken is a body that fails after some bytes.
type broken struct {
	io.Reader
	closed chan struct{}
}

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = errBroken
	}
	return n, err
}

func (b broken) Close() error {
	select {
	case b.closed <- struct{}{}:
	default:
	}
	return nil
}

// TestBodyOfRequestFails: a failure of the request body is not one of the origin; the connection is closed: RFC
// 9112 section 8.
func TestBodyOfRequestFails(t *testing.T) {
	for name, tt := range map[string]struct {
		body   io.Reader
		length int64
		want   error
	}{
		"an error":         {broken{strings.NewReader("bo"), make(chan struct{}, 1)}, 4, errBroken},
		"an error, chunks": {broken{strings.NewReader("bo"), make(chan struct{}, 1)}, -1, errBroken},
		"too short":        {strings.NewReader("bo"), 4, io.ErrUnexpectedEOF},
		"nothing for ever": {opaque{empties{}}, 4, io.ErrNoProgress},
	} {
		ended := make(chan error, 1)
		o := serve(t, func(_ int, _ net.Conn, in *bufio.Reader) {
			readHead(in)
			_, err := io.Copy(io.Discard, in)
			ended <- err
		})
		_, err := newHandler(t, nil).Fetch(t.Context(), scheme.Request{Request: httpmessage.Request{
			Method: "PUT", URI: parse(t, "http://"+o.addr+"/"),
			Body: tt.body, ContentLength: tt.length,
		}})
		if !errors.Is(err, scheme.ErrRequestBody) || !errors.Is(err, tt.want) ||
			errors.Is(err, resolver.ErrUnreachable) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		<-ended
		if b, ok := tt.body.(broken); ok {
			<-b.closed
		}
	}
}

type empties struct{}

func (empties) Read([]byte) (int, error) { return 0, nil }

// TestEarlyResponse: a final response may arrive before the body was sent; the rest is not sent: RFC 9112
// section 9.5.
func TestEarlyResponse(t *testing.T) {
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(c, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
		_, _ = io.Copy(io.Discard, in)
	})
	reader, writer := io.Pipe()
	h := newHandler(t, nil)
	done := make(chan error, 1)
	go func() {
		_, err := writer.Write([]byte("a"))
		for err == nil {
			_, err = writer.Write(make([]byte, 1<<16))
		}
		done <- err
	}()
	r, text := fetch(t, h,
		scheme.Request{Request: httpmessage.Request{
			Method: "PUT", URI: parse(t, "http://"+o.addr+"/"), Body: reader,
			ContentLength: 1 << 40,
		}})
	if r.Status != 413 || text != "big" {
		t.Errorf("%d %q", r.Status, text)
	}
	if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the body is read on: %v", err)
	}
}

// TestLargeBody requires that a large body arrives completely, and that the connection is reused.
func TestLargeBody(t *testing.T) {
	const size = 1<<20 + 7
	for _, length := range []int64{size, -1} {
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n, err, r.Trailer.Get("A"))
		}), ReadHeaderTimeout: time.Minute}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		counted := &counting{Listener: listener}
		go server.Serve(counted)
		h := newHandler(t, nil)
		for range 3 {
			request := scheme.Request{
				Request: httpmessage.Request{
					Method: "POST", URI: parse(t, "http://"+listener.Addr().String()+"/"),
					Body: io.LimitReader(zeros{}, size), ContentLength: length,
				},
			}
			want := fmt.Sprint(size, "<nil>")
			if length < 0 {
				request.Trailer, want = &httpmessage.Trailer{
					Names:  []string{"A"},
					Fields: httpmessage.NewFields("A", "b"),
				}, want+"b"
			}
			if _, text := fetch(t, h, request); strings.ReplaceAll(text, " ", "") != strings.ReplaceAll(want, " ", "") {
				t.Errorf("%s", text)
			}
		}
		server.Close()
		if counted.n != 1 {
			t.Errorf("%d connections", counted.n)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// counting counts the connections of a listener.
type counting struct {
	net.Listener
	n int
}

func (c *counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n++
	}
	return conn, err
}

// TestUpgrade: after 101 the body is the connection, in both directions: RFC 9110 section 7.8.
func TestUpgrade(t *testing.T) {
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		if head := readHead(in); !strings.Contains(head, "Upgrade: echo\r\nConnection: Upgrade\r\n") {
			t.Errorf("asked %q", head)
		}
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello ")
		_, _ = io.Copy(c, in)
		_, _ = io.WriteString(c, " bye")
	})
	r, err := newHandler(t, nil).Fetch(t.Context(), scheme.Request{
		Request: httpmessage.Request{
			Method: "GET", URI: parse(t, "http://"+o.addr+"/"),
			Fields: httpmessage.NewFields("Connection", "Upgrade", "Upgrade", "echo"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	stream, ok := r.Body.(interface {
		io.ReadWriteCloser
		CloseWrite() error
	})
	if !ok || r.Status != 101 || r.Reason != "Switching" {
		t.Fatalf("%d %s, %T", r.Status, r.Reason, r.Body)
	}
	if _, err := io.WriteString(stream, "echo"); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if text, err := body(r); err != nil || text != "hello echo bye" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestUpgradeEnds requires that canceling ctx ends an upgraded connection.
func TestUpgradeEnds(t *testing.T) {
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n")
		_, _ = in.ReadByte()
	})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := newHandler(t, nil).Fetch(ctx, scheme.Request{Request: httpmessage.Request{
		Method: "GET", URI: parse(t, "http://"+o.addr+"/"),
		Fields: httpmessage.NewFields("Upgrade", "a"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := r.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
