package listen_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// shortDeadline is a deadline for clients that are to fail.
func shortDeadline() time.Time { return time.Now().Add(50 * time.Millisecond) }

// A response by HTTP/2 ends at the write deadline where its client opens no window.
func TestStreamEndsWithoutRoom(t *testing.T) {
	own, pool := certificates(t)
	listener := localListener(t)
	ended := make(chan struct{})
	serve(t, listener, func(c *listen.ServerConfig) {
		c.TLS, c.WriteDeadline = own, shortDeadline
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			defer close(ended)
			_, _ = w.Write(make([]byte, 100_000))
		})
	})
	conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var fields bytes.Buffer
	encoder := hpack.NewEncoder(&fields)
	for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/"}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	_, _ = io.WriteString(conn, http2.ClientPreface)
	frames := http2.NewFramer(conn, conn)
	_ = frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	_ = frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields.Bytes(), EndStream: true, EndHeaders: true})
	testserver.Within(t, "the handler", func() { <-ended })
}

// An aborted response does not look complete, also to a client of HTTP/1.0, for which the
// end of the connection is the end of the response.
func TestBrokenOffIsNotWhole(t *testing.T) {
	own, pool := certificates(t)
	for _, secure := range []bool{false, true} {
		listener := localListener(t)
		socket := listen.NewSocket(listener, listen.SocketConfig{Limit: listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 10}, time.Now)})
		t.Cleanup(func() { _ = socket.Close() })
		serve(t, socket.Listen(), func(c *listen.ServerConfig) {
			if secure {
				c.TLS = own
			}
			c.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write(make([]byte, 10_000))
				_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) // as message.Abort does
			})
		})
		for _, proto := range []string{"HTTP/1.0", "HTTP/1.1"} {
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if secure {
				conn = tls.Client(conn, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
			}
			_, _ = io.WriteString(conn, "GET / "+proto+"\r\nHost: a\r\n\r\n")
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil {
				_, err = io.ReadAll(response.Body)
			}
			if err == nil {
				t.Errorf("%s, secure %t: it looks whole", proto, secure)
			}
			conn.Close()
		}
	}
}

// A response that ends early has all that was flushed of it, does not look complete, and ends without a reset: RFC 9112
// section 8. The next request of its connection is not answered.
func TestEndEarly(t *testing.T) {
	const size = 1 << 20
	own, pool := certificates(t)
	for _, secure := range []bool{false, true} {
		for i, length := range []string{"", "2097152", "2097152"} {
			listener := localListener(t)
			ended := make(chan struct{}, 1)
			serve(t, listener, func(c *listen.ServerConfig) {
				if secure {
					c.TLS = own
				}
				c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if length != "" {
						w.Header().Set("Content-Length", length)
					}
					ended <- struct{}{}
					_, _ = w.Write(make([]byte, size))
					_ = http.NewResponseController(w).Flush()
					if !listen.EndEarly(r) {
						t.Error("it does not end")
					}
				})
			})
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if secure {
				conn = tls.Client(conn, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
			}
			const pipelined = 1000 // with more octets than net/http reads at once
			_, _ = io.WriteString(conn, strings.Repeat("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 1+i/2*pipelined))
			<-ended
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, response.Body); n != size || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("secure %t, length %q: %d octets, %v", secure, length, n, err)
			}
			conn.Close()
		}
	}
	if listen.EndEarly(httptest.NewRequest(http.MethodGet, "/", nil)) {
		t.Error("a request that came by no server")
	}
}
