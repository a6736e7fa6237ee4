package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/testserver"
)

// patientHandler answers /wait after a time in which the end of the client is noticed, and the rest as answerSlow does.
func patientHandler(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/wait" {
		answerSlow(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	select {
	case <-r.Context().Done():
		w.WriteHeader(http.StatusGatewayTimeout)
	case <-time.After(100 * time.Millisecond):
		fmt.Fprintf(w, "waited %s%v", body, err)
	}
}

// A client that ends its side behind its requests gets all answers in full, by both paths, and whatever ends it: the end of
// TCP (RFC 9293 section 3.6), or close_notify (RFC 8446 section 6.1: it has no effect on the other direction).
func TestHalfClosedClients(t *testing.T) {
	const waiting = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"
	const waited = "200 waited <nil>"
	for _, tt := range []struct {
		name, octets string
		want         []string
	}{
		{"nothing", "", []string{"closed"}},
		{"a request that is cached", fastRequest, []string{fastAnswer, "closed"}},
		{"a request that takes its time", waiting, []string{waited, "closed"}},
		{"pipelined requests", fastRequest + waiting + fastRequest + slowRequest + waiting, []string{fastAnswer, waited, fastAnswer, slowAnswer, waited, "closed"}},
		{"HTTP/1.0", "GET /wait HTTP/1.0\r\n\r\n", []string{waited + " close", "closed"}},
		{"HTTP/1.0 with keep-alive", "GET /wait HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", []string{waited, "closed"}},
		{"a body", "POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody", []string{"200 waited body<nil>", "closed"}},
		{"chunks", "POST /wait HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", []string{"200 waited body<nil>", "closed"}},
		{"a part of a body", "POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbody", []string{"504 ", "closed"}},
		{
			"a part of the size of a chunk", "POST /wait HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", readSize-1),
			[]string{"504 ", "closed"},
		},
		{"a part of a request behind one", waiting + "GET /", []string{waited, "400", "closed"}},
	} {
		for name, change := range map[string]func(*fastServer, *ServerConfig){
			"": func(*fastServer, *ServerConfig) {}, ", without the fast path": func(_ *fastServer, c *ServerConfig) { c.FastPath = nil },
			", by TLS": overTLS, ", by the PROXY protocol": func(s *fastServer, c *ServerConfig) {
				s.balanced, c.ProxyProtocol = true, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			},
		} {
			t.Run(tt.name+name, func(t *testing.T) {
				t.Parallel()
				s := serveFast(t, func(s *fastServer, c *ServerConfig) {
					change(s, c)
					c.Handler = http.HandlerFunc(patientHandler)
					c.BodyDeadline = func() time.Time { return time.Now().Add(testserver.Patience) }
				})
				c := s.dial(t)
				c.send(t, tt.octets)
				if secure, ok := c.Conn.(*tls.Conn); ok && tt.octets == "" {
					_ = secure.Handshake()
				}
				if err := c.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
					t.Fatal(err)
				}
				for i, want := range tt.want {
					if got := c.receive(); !strings.HasPrefix(got, want) {
						t.Fatalf("response %d: %.100q, not %.100q", i, got, want)
					}
				}
			})
		}
	}
}

func overTLS(s *fastServer, c *ServerConfig) {
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	s.secure, c.TLS = &tls.Config{InsecureSkipVerify: true}, server.TLS
}

// By HTTP/2 a client that ends its side gets what fits into its windows.
func TestHalfClosedByHTTP2(t *testing.T) {
	s := serveFast(t, func(s *fastServer, c *ServerConfig) {
		overTLS(s, c)
		s.secure.NextProtos = []string{"h2"}
		c.Handler = http.HandlerFunc(patientHandler)
	})
	c := s.dial(t)
	f := http2.NewFramer(c.Conn, c.Conn)
	c.send(t, http2.ClientPreface)
	_ = f.WriteSettings()
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/wait"}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	for _, stream := range []uint32{1, 3} {
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(block.String()), EndStream: true, EndHeaders: true})
	}
	if err := c.Conn.(*tls.Conn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	ended := 0
	for {
		frame, err := f.ReadFrame()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if data, ok := frame.(*http2.DataFrame); ok && data.StreamEnded() {
			ended++
		}
	}
	if ended != 2 {
		t.Errorf("%d of 2 answers are sent in full", ended)
	}
}

// A client that has left is noticed by a reset, before it has ended its side and behind that: the request ends.
func TestClientLeavesWithinARequest(t *testing.T) {
	for name, secure := range map[string]bool{"": false, " by TLS": true} {
		for _, halfClosed := range []bool{false, true} {
			began, left := make(chan struct{}), make(chan error, 1)
			s := serveFast(t, func(s *fastServer, c *ServerConfig) {
				if secure {
					overTLS(s, c)
				}
				c.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					close(began)
					ctx, stop := context.WithTimeoutCause(r.Context(), testserver.Patience, os.ErrDeadlineExceeded)
					defer stop()
					<-ctx.Done()
					left <- context.Cause(ctx)
				})
			})
			c := s.dial(t)
			c.send(t, slowRequest)
			<-began
			if halfClosed {
				_ = c.Conn.(interface{ CloseWrite() error }).CloseWrite()
			}
			tcp, ok := c.Conn.(*net.TCPConn)
			if !ok {
				tcp = c.Conn.(*tls.Conn).NetConn().(*net.TCPConn)
			}
			_ = tcp.SetLinger(0)
			tcp.Close()
			if err := <-left; errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("nobody notices that the client has left%s (%v)", name, halfClosed)
			}
		}
	}
}
