package proxy_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func withShutdown(timeout time.Duration) func(*engine) {
	return func(e *engine) { e.listen.ShutdownTimeout = timeout }
}

// upgrading is an origin that switches to an echoing protocol on request, and at /unasked without a request.
func upgrading(t testing.TB) *peer {
	t.Helper()
	return listenRaw(t, func(p *peer, c net.Conn, in *bufio.Reader) {
		request, err := readMessage(in)
		if err != nil {
			return
		}
		p.record(request)
		switch {
		case strings.HasPrefix(request, "GET /no "):
			_, _ = io.WriteString(c, "HTTP/1.1 426 Upgrade it\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
		case len(field(request, "Upgrade")) > 0 || strings.HasPrefix(request, "GET /unasked "):
			_, _ = io.WriteString(c,
				"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade, X-Hop\r\nUpgrade: "+
					"websocket\r\nSec-WebSocket-Accept: x\r\nX-Hop: 1\r\n\r\nhi ")
			_, _ = io.Copy(c, in)
			_, _ = io.WriteString(c, "bye")
		default:
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nplain")
		}
	})
}

const websocket = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n"

// A protocol that both sides agree on is tunneled, and each direction ends on its own (RFC 9110 section 7.8).
func TestUpgrade(t *testing.T) {
	o := upgrading(t)
	s := start(t, nil)
	c := s.dial(t)
	c.send(t, "GET http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\n"+websocket+"\r\nearly ")
	c.expect(t,
		"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\nConnection: Upgrade\r\nUpgrade: "+
			"websocket\r\nVia: 1.1 urnd\r\n\r\nhi early ")
	c.send(t, "late")
	c.expect(t, "late")
	if half, ok := c.Conn.(*net.TCPConn); !ok || half.CloseWrite() != nil {
		t.Fatal("no half-close")
	}
	if got, broken := c.rest(); got != "bye" || broken {
		t.Errorf("%q, %v", got, broken)
	}
	if got := strings.Join(append(field(o.last(), "Connection"), field(o.last(), "Upgrade")...),
		"; "); got != "Upgrade; websocket" {
		t.Errorf("the origin is asked %q", got)
	}
}

// A response other than 101 is forwarded as usual, and an unrequested 101 is an error.
func TestUpgradeRefused(t *testing.T) {
	o := upgrading(t)
	s := start(t, nil)
	for _, tt := range []struct{ name, method, version, path, fields, status, body string }{
		{"refused by the origin", "GET", "1.1", "/no", websocket, "426 Upgrade it", "no"},
		{"HTTP/1.0", "GET", "1.0", "/", websocket, "200 OK", "plain"},
		{"not named by Connection", "GET", "1.1", "/", "Upgrade: websocket\r\n", "200 OK", "plain"},
		{
			"h2c", "GET", "1.1", "/",
			"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
			"200 OK", "plain",
		},
		{"with content", "POST", "1.1", "/", websocket + "Content-Length: 0\r\n", "200 OK", "plain"},
		{"101 that nobody asked for", "GET", "1.1", "/unasked", "", "502 Bad Gateway", ""},
	} {
		answer, _ := s.bytes(t, tt.method+" http://"+o.addr+tt.path+" HTTP/"+tt.version+
			"\r\nHost: a\r\nConnection: close\r\n"+tt.fields+"\r\n")
		line, _, _ := strings.Cut(answer, "\r\n")
		if line != "HTTP/1.1 "+tt.status || !strings.HasSuffix(answer, tt.body) {
			t.Errorf("%s: %q", tt.name, answer)
		}
		if tt.body == "" && !strings.Contains(answer, "Proxy-Status: urnd; error=http_protocol_error") {
			t.Errorf("%s: %q", tt.name, answer)
		}
	}
}
