package proxy_test

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
)

// webSockets is an origin that opens WebSockets (RFC 6455 section 4.2.2), and echoes all bytes.
func webSockets(t testing.TB) *peer {
	t.Helper()
	return listenRaw(t, func(p *peer, c net.Conn, in *bufio.Reader) {
		request, err := readMessage(in)
		if err != nil {
			return
		}
		p.record(request)
		sum := sha1.Sum([]byte(strings.Join(field(request, "Sec-WebSocket-Key"), "") +
			"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		accept := base64.StdEncoding.EncodeToString(sum[:])
		switch path := strings.Fields(request)[1]; path {
		case "/refused":
			_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
			return
		case "/plain":
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
			return
		case "/wrong":
			accept = "x"
		}
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Accept: "+accept+"\r\nSec-WebSocket-Protocol: chat\r\n\r\nhi ")
		_, _ = io.Copy(c, in)
		_, _ = io.WriteString(c, " bye")
	})
}

// streams is an HTTP/2 client on the level of frames.
type streams struct {
	*http2.Framer
	encoder *hpack.Encoder
	block   bytes.Buffer
	conn    *tls.Conn
	next    uint32
	sockets bool // the server announces WebSockets
}

// dialStreams connects to a server by HTTP/2, and reads its settings.
func (s *server) dialStreams(t testing.TB, name string) *streams {
	t.Helper()
	conn, err := tls.Dial("tcp", s.addr,
		&tls.Config{ServerName: name, InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(testserver.Timeout))
	c := &streams{Framer: http2.NewFramer(conn, conn), conn: conn, next: 1}
	c.encoder = hpack.NewEncoder(&c.block)
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, _ = io.WriteString(conn, http2.ClientPreface)
	_ = c.WriteSettings()
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := frame.(*http2.SettingsFrame); ok && !f.IsAck() {
			offered, _ := f.Value(http2.SettingEnableConnectProtocol)
			c.sockets = offered == 1
			_ = c.WriteSettingsAck()
			return c
		}
	}
}

// open sends the header of a request, as pairs of name and value.
func (c *streams) open(end bool, pairs ...string) uint32 {
	id := c.next
	c.next += 2
	c.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = c.encoder.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	_ = c.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: c.block.Bytes(), EndHeaders: true,
		EndStream: end,
	})
	return id
}

// webSocket requests a WebSocket (RFC 8441 section 5.1).
func (c *streams) webSocket(protocol, authority, path string, pairs ...string) uint32 {
	return c.open(false, append([]string{
		":method", "CONNECT", ":protocol", protocol, ":scheme", "https", ":authority", authority, ":path", path,
		"sec-websocket-protocol", "chat", "sec-websocket-version", "13", "origin", "https://" + authority,
	}, pairs...)...)
}

// come reads a stream up to a content, or to its end. It returns the status and the fields of the response,
// the content, and how the stream ended.
func (c *streams) come(t testing.TB, id uint32, until string) (status string, fields []string, content, ended string) {
	t.Helper()
	for ended == "" && (until == "" || content != until) {
		frame, err := c.ReadFrame()
		if err != nil {
			t.Fatalf("%v behind %s %q", err, status, content)
		}
		if frame.Header().StreamID != id {
			continue
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			status = f.PseudoValue("status")
			for _, field := range f.RegularFields() {
				fields = append(fields, field.Name+": "+field.Value)
			}
		case *http2.DataFrame:
			content += string(f.Data())
		case *http2.RSTStreamFrame:
			ended = f.ErrCode.String()
		}
		if ended == "" && frame.Header().Flags.Has(http2.FlagDataEndStream) &&
			frame.Header().Type <= http2.FrameHeaders {
			ended = "end"
		}
	}
	return status, fields, content, ended
}

// webSocketSite returns an HTTP/2 client of a proxy whose site has the given server.
func webSocketSite(t testing.TB, server string) *streams {
	t.Helper()
	s := startOn(t, certificate(t), func(c *proxy.Config) {
		chat := siteAt(t, nil, server)
		chat.Route.Host = "chat.example"
		c.Sites = []proxy.Site{chat}
	}, func(e *engine) { e.protocols.WebSockets = true })
	return s.dialStreams(t, "chat.example")
}

// An HTTP/2 client opens a WebSocket on a stream; the connection to the server of the site uses HTTP/1.1 (RFC
// 8441 section 5). Each side ends on its own.
func TestWebSocketByHTTP2(t *testing.T) {
	t.Parallel()
	o := webSockets(t)
	c := webSocketSite(t, "http://"+o.addr)
	if !c.sockets {
		t.Fatal("no SETTINGS_ENABLE_CONNECT_PROTOCOL")
	}
	for range 2 {
		id := c.webSocket("websocket", "chat.example", "/room?a=b", "cookie", "c=d", "sec-websocket-key",
			"of-the-client")
		status, fields, _, _ := c.come(t, id, "hi ")
		if got := strings.Join(fields, "\n"); status != "200" ||
			!strings.Contains(got, "sec-websocket-protocol: chat") ||
			!strings.Contains(got, "via: 1.1 urnd") || strings.Contains(got, "sec-websocket-accept") ||
			strings.Contains(got, "upgrade") {
			t.Fatalf("%s %s", status, got)
		}
		for _, message := range []string{"a", strings.Repeat("b", 10_000)} {
			_ = c.WriteData(id, false, []byte(message))
			c.come(t, id, message)
		}
		_ = c.WriteData(id, true, []byte("last"))
		if _, _, content, ended := c.come(t, id, ""); content != "last bye" || ended != "end" {
			t.Errorf("%q, %s", content, ended)
		}
	}
	request := o.last()
	line, _, _ := strings.Cut(request, "\r\n")
	for name, want := range map[string]string{
		"Host": "chat.example", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Protocol": "chat", "Cookie": "c=d", "Content-Length": "", "Transfer-Encoding": "",
	} {
		if got := strings.Join(field(request, name), "; "); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	keys := make(map[string]bool)
	for _, request := range o.requests() {
		key := strings.Join(field(request, "Sec-WebSocket-Key"), "; ")
		if nonce, err := base64.StdEncoding.DecodeString(key); err != nil || len(nonce) != 16 {
			t.Errorf("the nonce %q", key)
		}
		keys[key] = true
	}
	if line != "GET /room?a=b HTTP/1.1" || len(keys) != 2 {
		t.Errorf("%s, %d nonces", line, len(keys))
	}
}

// A reset of either side is forwarded to the other one (RFC 8441 section 5).
func TestWebSocketResetByHTTP2(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	o := listenRaw(t, func(_ *peer, c net.Conn, in *bufio.Reader) {
		request, err := readMessage(in)
		if err != nil {
			return
		}
		sum := sha1.Sum([]byte(strings.Join(field(request, "Sec-WebSocket-Key"), "") +
			"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Accept: "+base64.StdEncoding.EncodeToString(sum[:])+"\r\n\r\nhi ")
		if strings.HasPrefix(request, "GET /break ") {
			_ = c.(*net.TCPConn).SetLinger(0)
			_, _ = in.ReadByte()
			return
		}
		_, _ = io.Copy(io.Discard, in)
		close(left)
	})
	c := webSocketSite(t, "http://"+o.addr)
	id := c.webSocket("websocket", "chat.example", "/break")
	c.come(t, id, "hi ")
	_ = c.WriteData(id, false, []byte("x"))
	if _, _, _, ended := c.come(t, id, ""); ended != "CANCEL" {
		t.Errorf("the server breaks off: %s", ended)
	}
	id = c.webSocket("websocket", "chat.example", "/")
	c.come(t, id, "hi ")
	_ = c.WriteRSTStream(id, http2.ErrCodeCancel)
	testserver.Within(t, "the server hears of it", func() { <-left })
}

// A response other than a valid 101 is no success by HTTP/2, where that would mean that the WebSocket is open.
func TestWebSocketRefusedByHTTP2(t *testing.T) {
	t.Parallel()
	o := webSockets(t)
	c := webSocketSite(t, "http://"+o.addr)
	for _, tt := range []struct{ protocol, authority, path, status, code string }{
		{"websocket", "chat.example", "/refused", "403", ""}, // the response of the server
		{"websocket", "chat.example", "/plain", "502", "response_not_valid"},
		{"websocket", "chat.example", "/wrong", "502", "response_not_valid"},
		{"WebSocket", "chat.example", "/refused", "403", ""},
		{"connect-udp", "chat.example", "/", "501", "protocol_not_supported"}, // RFC 9220 section 3
		{"websocket", "a", "/", "501", "protocol_not_supported"},              // urnd itself
		{"websocket", "a", "/urn:ietf:rfc:2648", "501", "protocol_not_supported"},
		{"websocket", "a", "/robots.txt", "501", "protocol_not_supported"},
	} {
		id := c.webSocket(tt.protocol, tt.authority, tt.path)
		status, _, content, _ := c.come(t, id, "")
		if status != tt.status || tt.code != "" && !strings.Contains(content, fmt.Sprintf("%q", tt.code)) {
			t.Errorf("%s of %s%s: %s %s", tt.protocol, tt.authority, tt.path, status, content)
		}
	}
	for name, pairs := range map[string][]string{
		":protocol without CONNECT": {
			":method", "GET", ":protocol", "websocket", ":scheme", "https", ":authority",
			"chat.example", ":path", "/",
		},
		"no :path": {
			":method", "CONNECT", ":protocol", "websocket", ":scheme", "https", ":authority",
			"chat.example",
		},
		"no :scheme": {
			":method", "CONNECT", ":protocol", "websocket", ":authority", "chat.example",
			":path", "/",
		},
		"an empty :protocol": {
			":method", "CONNECT", ":protocol", "", ":scheme", "https", ":authority",
			"chat.example", ":path", "/",
		},
	} {
		if _, _, _, ended := c.come(t, c.open(true, pairs...), ""); ended != "PROTOCOL_ERROR" {
			t.Errorf("%s: %s", name, ended)
		}
	}
	if n := len(o.requests()); n != 4 {
		t.Errorf("the server got %d requests", n)
	}
	c = webSocketSite(t, "h2c://"+o.addr) // a server over HTTP/2 supports no protocol switch
	if status, _, content, _ := c.come(t, c.webSocket("websocket", "chat.example", "/"), ""); status != "501" {
		t.Errorf("a server of HTTP/2: %s %s", status, content)
	}
}

// A client of the proxy may open a WebSocket, others may not: the rules are those of GET.
func TestWebSocketOfProxyByHTTP2(t *testing.T) {
	t.Parallel()
	o := webSockets(t)
	_, port, _ := net.SplitHostPort(o.addr)
	for _, tt := range []struct {
		proxies bool
		status  string
	}{{true, "200"}, {false, "501"}} {
		s := startOn(t, certificate(t), func(c *proxy.Config) {
			if !tt.proxies {
				c.Access.Proxy = nil
			}
		}, func(e *engine) { e.protocols.WebSockets = true })
		c := s.dialStreams(t, "proxy.example")
		id := c.open(false, ":method", "CONNECT", ":protocol", "websocket", ":scheme", "http", ":authority",
			"localhost:"+port, ":path", "/",
			"sec-websocket-version", "13")
		until := ""
		if tt.proxies {
			until = "hi "
		}
		if status, _, content, _ := c.come(t, id, until); status != tt.status {
			t.Errorf("proxies %t: %s %s", tt.proxies, status, content)
		}
	}
	if n := len(o.requests()); n != 1 {
		t.Errorf("the server got %d requests", n)
	}
}

// Without sites and without clients of the proxy, WebSockets are not announced, and :protocol is an error
// (RFC 8441 section 3).
func TestWebSocketNotOffered(t *testing.T) {
	t.Parallel()
	c := startOn(t, certificate(t), nil).dialStreams(t, "a")
	if _, _, _, ended := c.come(t, c.webSocket("websocket", "a", "/"), ""); c.sockets || ended != "PROTOCOL_ERROR" {
		t.Errorf("%t, %s", c.sockets, ended)
	}
}
