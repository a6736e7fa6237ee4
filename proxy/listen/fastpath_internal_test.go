package listen

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// fastRequest is what fakePath answers, and slowRequest goes to the handler. Both answer with the target.
const (
	fastRequest = "GET /fast HTTP/1.1\r\nHost: a\r\n\r\n"
	slowRequest = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
)

// fakePath is a FastPath without a cache.
type fakePath struct {
	answered atomic.Int64 // requests
	before   atomic.Pointer[func(*FastConn)]
	during   atomic.Pointer[func(*FastConn, context.Context)] // of a request that is served
}

// ServePlain implements FastPath: it serves plainRequest.
func (p *fakePath) ServePlain(c *FastConn, octets []byte) (used int) {
	if !bytes.HasPrefix(octets, []byte(plainRequest)) {
		return 0
	}
	ctx := c.Begin()
	defer c.End()
	if during := p.during.Load(); during != nil {
		(*during)(c, ctx)
	}
	_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain")
	return len(plainRequest)
}

// AnswerFast implements FastPath.
func (p *fakePath) AnswerFast(c *FastConn, octets []byte) (used int) {
	for bytes.HasPrefix(octets[used:], []byte(fastRequest)) {
		used += len(fastRequest)
		p.answered.Add(1)
		if before := p.before.Load(); before != nil {
			(*before)(c)
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfast")
	}
	return used
}

// fastServer is a server with a fakePath.
type fastServer struct {
	path     fakePath
	unused   atomic.Int32
	refused  atomic.Int32
	limit    *ConnectionLimit
	timeout  time.Duration // for a client to read a chunk; 0 is none
	accepted chan net.Conn // the server's end of each connection, below its FastConn
	listener net.Listener
	socket   *Socket // accepts instead of the listener; may be nil
	secure   *tls.Config
	balanced bool // connections begin with a header of the PROXY protocol
	server   *Server
	replace  context.CancelFunc // ends Serve
	end      context.CancelFunc // ends the daemon
	ended    chan error         // what Serve returned
}

// answerSlow answers /fast and /plain as fakePath does, and else with the method, the target and the body. It does not read
// the body of /unread.
func answerSlow(w http.ResponseWriter, r *http.Request) {
	var body []byte
	if r.URL.Path != "/unread" {
		body, _ = io.ReadAll(r.Body)
	}
	if r.Method == http.MethodGet && (r.URL.Path == "/fast" || r.URL.Path == "/plain") {
		_, _ = io.WriteString(w, r.URL.Path[1:])
		return
	}
	_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, body)
}

func serveFast(t testing.TB, change func(*fastServer, *ServerConfig)) *fastServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &fastServer{listener: listener, ended: make(chan error, 1), accepted: make(chan net.Conn, 64)}
	s.limit = NewConnectionLimit(ConnectionLimits{Connections: 1 << 10}, time.Now)
	life, end := context.WithCancel(t.Context())
	ctx, replace := context.WithCancel(context.WithoutCancel(t.Context()))
	s.end, s.replace = end, replace
	config := ServerConfig{
		Handler: http.HandlerFunc(answerSlow), FastPath: &s.path, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Malformed: func(m Malformed) Document {
			return Document{Status: m.Status, ContentType: "text/plain", Body: fmt.Appendf(nil, "malformed %s %s", m.Method, m.Target)}
		},
		Refused: func(int) { s.refused.Add(1) }, Unused: func() { s.unused.Add(1) },
		MaxTarget: 1024, MaxHeader: 4096, HeaderTimeout: testserver.Patience, IdleTimeout: testserver.Patience, ShutdownTimeout: testserver.Patience,
		DaemonContext: life,
	}
	if change != nil {
		change(s, &config)
	}
	s.server = NewServer(config)
	var from net.Listener = recordingListener{listener, s}
	if s.socket != nil {
		from = s.socket.Listen()
	}
	go func() { s.ended <- s.server.Serve(ctx, from) }()
	stop := sync.OnceFunc(func() {
		replace()
		end()
		<-s.ended
		if s.socket != nil {
			_ = s.socket.Close()
		}
	})
	t.Cleanup(stop)
	return s
}

// recordingListener gives its connections to a test, too.
type recordingListener struct {
	net.Listener
	server *fastServer
}

func (l recordingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	client := &clientConn{Conn: conn}
	client.counted = l.server.limit.acquire(addrOf(conn), client, nil)
	if l.server.timeout > 0 {
		client.deadline = func() time.Time { return time.Now().Add(l.server.timeout) }
	}
	select {
	case l.server.accepted <- client:
	default: // enough of them
	}
	return client, nil
}

// fastClient is a client on one connection.
type fastClient struct {
	net.Conn
	in *bufio.Reader
}

func (s *fastServer) dial(t testing.TB) fastClient {
	t.Helper()
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(testserver.Patience / 2))
	if s.balanced {
		_, _ = io.WriteString(conn, "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n")
	}
	if s.secure != nil {
		conn = tls.Client(conn, s.secure)
	}
	return fastClient{conn, bufio.NewReader(conn)}
}

func (c fastClient) send(t testing.TB, octets string) {
	t.Helper()
	if _, err := io.WriteString(c, octets); err != nil {
		t.Fatal(err)
	}
}

// receive returns the next response: its status, its body and whether it is the last, or "closed", "reset" or why
// there is none.
func (c fastClient) receive() string {
	response, err := http.ReadResponse(c.in, nil)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "closed"
	case err != nil:
		return err.Error()
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%d %s", response.StatusCode, body)
	if response.Close {
		text += " close"
	}
	return text
}

// expect compares the next responses; "400" is any refusal.
func (c fastClient) expect(t testing.TB, want ...string) {
	t.Helper()
	for i, want := range want {
		if got := c.receive(); got != want && (want != "400" || !strings.HasPrefix(got, want)) {
			t.Fatalf("response %d: %.100q, not %.100q", i, got, want)
		}
	}
}

const fastAnswer, slowAnswer = "200 fast", "200 GET /slow "

// Both paths mix on one connection. The fast path may miss a request behind one of net/http, which looks for octets
// while it answers.
func TestFastPathMixes(t *testing.T) {
	s := serveFast(t, nil)
	c := s.dial(t)
	for range 3 {
		c.send(t, fastRequest)
		c.expect(t, fastAnswer)
		c.send(t, slowRequest)
		c.expect(t, slowAnswer)
	}
	c = s.dial(t)
	before := s.path.answered.Load()
	c.send(t, fastRequest+fastRequest+slowRequest+fastRequest)
	c.expect(t, fastAnswer, fastAnswer, slowAnswer, fastAnswer)
	if got := s.path.answered.Load() - before; got != 2 {
		t.Errorf("%d requests took the fast path", got)
	}
	testserver.Wait(t, "the fast path is used again", func() bool {
		before := s.path.answered.Load()
		c.send(t, fastRequest)
		c.expect(t, fastAnswer)
		return s.path.answered.Load() > before
	})
}

// What is within a request is never taken for another one, however it is divided into packets. net/http reads it in
// the same places where it waits for requests: into all of its buffer.
func TestFastPathBoundaries(t *testing.T) {
	body := strings.Repeat("b", readSize-len("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n"))
	for _, tt := range []struct {
		name  string
		parts []string // each is sent when the first answers were received
		want  []string // of each part, separated by "|"
	}{
		{
			"a head that ends with a packet behind a request", []string{slowRequest + "GET /odd HTTP/1.1\r\n", fastRequest}, []string{
				slowAnswer, "400",
			},
		},
		{
			"a field behind a request", []string{slowRequest + "GET /odd HTTP/1.1\r\nHost: a\r\nX: y\r\n", "GET: 1\r\n\r\n", fastRequest}, []string{
				slowAnswer, "200 GET /odd ", fastAnswer,
			},
		},
		{
			"the beginning of a method", []string{slowRequest + "POS", "T /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"}, []string{
				slowAnswer, "200 POST /slow ",
			},
		},
		{"an octet", []string{slowRequest + "X", fastRequest}, []string{slowAnswer, "200 XGET /fast "}},
		{"three octets", []string{slowRequest + "XYZ", fastRequest}, []string{slowAnswer, "200 XYZGET /fast "}},
		{
			"a body", []string{"PUT /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 33\r\n\r\n", fastRequest + "zz" + fastRequest}, []string{
				"", "200 PUT /slow " + fastRequest + "zz|200 fast",
			},
		},
		{
			"a body behind a request", []string{slowRequest + "PUT /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 31\r\n\r\n", fastRequest, fastRequest}, []string{
				slowAnswer, "200 PUT /slow " + fastRequest, fastAnswer,
			},
		},
		{
			"a body that is not read", []string{slowRequest + "PUT /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 31\r\n\r\n", fastRequest, fastRequest}, []string{
				slowAnswer, "200 PUT /unread ", fastAnswer,
			},
		},
		{
			"a body that fills the buffer", []string{
				"PUT /slow HTTP/1.1\r\nHost: a\r\nContent-Length: " + fmt.Sprint(len(body)+31) + "\r\n\r\n" + body,
				fastRequest, fastRequest,
			}, []string{
				"", "200 PUT /slow " + body + fastRequest, fastAnswer,
			},
		},
		{
			"chunks", []string{slowRequest + "PUT /slow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "1f\r\n", fastRequest, "\r\n0\r\n\r\n"}, []string{
				slowAnswer, "", "", "200 PUT /slow " + fastRequest + " close", "closed",
			},
		},
		{
			"trailers", []string{"PUT /slow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n", "GET: 1\r\n", "\r\n", fastRequest}, []string{
				"", "", "200 PUT /slow ", fastAnswer,
			},
		},
		{
			"100-continue", []string{
				slowRequest + "PUT /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 31\r\nExpect: 100-continue\r\n\r\n", fastRequest,
				fastRequest,
			}, []string{
				slowAnswer + "|100 ", "200 PUT /slow " + fastRequest, fastAnswer,
			},
		},
		{
			"100-continue that is not read", []string{"PUT /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 31\r\nExpect: 100-continue\r\n\r\n"}, []string{
				"200 PUT /unread  close",
			},
		},
		{
			"an empty line behind a POST", []string{"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "\r\n" + fastRequest, fastRequest}, []string{
				"200 POST /slow ", fastAnswer, fastAnswer,
			},
		},
		{
			"an empty line behind a GET behind a POST", []string{
				"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", fastRequest,
				"\r\n" + slowRequest,
			}, []string{
				"200 POST /slow ", fastAnswer, "200 GET /slow ",
			},
		},
		{ // RFC 9112 section 2.2
			"an empty line before requests", []string{"\r\n" + fastRequest, "\r\n" + slowRequest, "\r\n" + fastRequest, fastRequest}, []string{
				fastAnswer, "200 GET /slow ", fastAnswer, fastAnswer,
			},
		},
		{
			"an empty line in parts", []string{"\r", "\n", slowRequest, "\r", "\n" + fastRequest}, []string{"", "", "200 GET /slow ", "", fastAnswer},
		},
		{
			"two empty lines", []string{"\r\n\r\n" + fastRequest}, []string{"400 malformed   close"},
		},
		{
			"a CR before a request", []string{"\r" + slowRequest}, []string{"400 malformed   close"},
		},
		{
			"a CR before a request in parts", []string{"\r", slowRequest}, []string{"", "400 malformed   close"},
		},
		{
			"a line longer than the buffer", []string{"GET /" + strings.Repeat("a", readSize-5), fastRequest}, []string{
				"", "400 malformed GET /" + strings.Repeat("a", 1083) + " close",
			},
		},
		{"what is malformed behind a request", []string{fastRequest + "GET /x y HTTP/1.1\r\n\r\n"}, []string{fastAnswer + "|400 malformed   close"}},
		{
			"a part of a method behind a request", []string{fastRequest + "GE", "T /slow HTTP/1.1\r\nHost: a\r\n\r\n", fastRequest}, []string{
				fastAnswer, slowAnswer, fastAnswer,
			},
		},
	} {
		for name, change := range map[string]func(*fastServer, *ServerConfig){
			"": nil,
			", with a deadline for bodies": func(_ *fastServer, c *ServerConfig) {
				c.BodyDeadline = func() time.Time { return time.Now().Add(testserver.Patience) }
			},
			", with TLS and the PROXY protocol": func(s *fastServer, c *ServerConfig) {
				server := httptest.NewUnstartedServer(nil)
				server.StartTLS()
				defer server.Close()
				s.secure, s.balanced = &tls.Config{InsecureSkipVerify: true}, true
				c.TLS, c.ProxyProtocol = server.TLS, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			},
			", behind others":         nil,
			", without the fast path": func(_ *fastServer, c *ServerConfig) { c.FastPath = nil },
		} {
			t.Run(tt.name+name, func(t *testing.T) {
				t.Parallel()
				c := serveFast(t, change).dial(t)
				if strings.Contains(name, "behind") && !strings.HasPrefix(tt.parts[0], "PUT") { // of a later one, a coding closes
					for range 2 * confirmed {
						c.send(t, fastRequest)
						c.expect(t, fastAnswer)
					}
				}
				for i, part := range tt.parts {
					c.send(t, part)
					if tt.want[i] != "" {
						c.expect(t, strings.Split(tt.want[i], "|")...)
					}
				}
			})
		}
	}
}
