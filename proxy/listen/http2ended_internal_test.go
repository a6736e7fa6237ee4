package listen

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/testserver"
)

// endedServer serves HTTP/2 without any deadline for its clients.
type endedServer struct {
	*fastServer
	began, ended chan string // paths of requests whose handlers have begun, and ended
	release      chan struct{}
}

// ServeHTTP answers /document with 1 MiB, /later with 1000 octets when that is released, /body when the body of the request has ended,
// and /wait when the request ends.
func (s *endedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.began <- r.URL.Path
	switch r.URL.Path {
	case "/document":
		_, _ = io.CopyN(w, zeros{}, 1<<20)
	case "/small":
		_, _ = io.CopyN(w, zeros{}, 100)
	case "/later":
		<-s.release
		_, _ = io.CopyN(w, zeros{}, 1000)
	case "/body":
		_, _ = io.Copy(io.Discard, r.Body)
	default:
		<-r.Context().Done()
	}
	s.ended <- r.URL.Path
}

func serveEnded(t *testing.T, change func(*ServerConfig)) *endedServer {
	t.Helper()
	s := &endedServer{began: make(chan string, 100), ended: make(chan string, 100), release: make(chan struct{})}
	s.fastServer = serveFast(t, func(f *fastServer, c *ServerConfig) {
		overTLS(f, c)
		f.secure.NextProtos = []string{"h2"}
		c.Handler = s
		change(c)
	})
	return s
}

// endedClient is a client by HTTP/2 whose streams have a window of a size in the beginning.
type endedClient struct {
	*tls.Conn
	framer *http2.Framer
	stream uint32
}

func (s *endedServer) client(t *testing.T, window uint32) *endedClient {
	t.Helper()
	conn, ok := s.dial(t).Conn.(*tls.Conn)
	if !ok {
		t.Fatal("there is no TLS")
	}
	c := &endedClient{Conn: conn, framer: http2.NewFramer(conn, conn), stream: 1<<32 - 1}
	_, _ = io.WriteString(conn, http2.ClientPreface)
	_ = c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	return c
}

// ask begins a request, and returns its stream.
func (c *endedClient) ask(t *testing.T, path string) uint32 {
	t.Helper()
	var block []byte
	method := "GET"
	if path == "/body" {
		method = "POST"
	}
	for _, f := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", "a"}, {":path", path}} {
		block = appendFields(block, []hpack.HeaderField{{Name: f[0], Value: f[1]}})
	}
	c.stream += 2
	err := c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: block, EndStream: path != "/body", EndHeaders: true})
	if err != nil {
		t.Fatal(err)
	}
	return c.stream
}

// ends are the ways in which a client ends its side of a connection, and whether it has left then.
func ends() map[string]func(*tls.Conn) (hasLeft bool) {
	raw := func(c *tls.Conn) *net.TCPConn { tcp, _ := c.NetConn().(*net.TCPConn); return tcp }
	return map[string]func(*tls.Conn) bool{
		"close_notify":         func(c *tls.Conn) bool { _ = c.CloseWrite(); return false },
		"FIN":                  func(c *tls.Conn) bool { _ = raw(c).CloseWrite(); return false },
		"close_notify and FIN": func(c *tls.Conn) bool { _ = c.CloseWrite(); _ = raw(c).CloseWrite(); return false },
		"close":                func(c *tls.Conn) bool { _ = c.Close(); return true },
		"reset":                func(c *tls.Conn) bool { _ = raw(c).SetLinger(0); _ = raw(c).Close(); return true },
	}
}

// Nobody opens a window behind the end of its side: RFC 9113 section 6.9. What waits for one ends with the client, and what waits for
// others ends where the client has left.
func TestStreamsOfEndedClients(t *testing.T) {
	for _, tt := range []struct {
		name    string
		window  uint32
		paths   []string
		behind  string // of the last request
		leaving bool   // it ends only where the client leaves
	}{
		{name: "windows of streams", paths: []string{"/document", "/small", "/document", "/small"}},
		{name: "the window of the connection", window: 1 << 30, paths: []string{"/document", "/document", "/document"}},
		{name: "a window with a part of the document", window: 1000, paths: []string{"/document"}},
		{name: "a part of a body", window: 1000, paths: []string{"/body"}},
		{name: "a part of a frame", paths: []string{"/document", "/wait"}, behind: "\x00\x00"},
		{name: "a part of the payload of a frame", paths: []string{"/document", "/wait"}, behind: "\x00\x00\x08\x06\x00\x00\x00\x00\x00ping"},
		{name: "another server", window: 1000, paths: []string{"/wait", "/wait"}, leaving: true},
	} {
		for name, end := range ends() {
			for path, change := range map[string]func(*ServerConfig){"": func(*ServerConfig) {}, ", without the fast path": func(c *ServerConfig) { c.FastPath = nil }} {
				t.Run(fmt.Sprintf("%s, %s%s", tt.name, name, path), func(t *testing.T) {
					t.Parallel()
					s := serveEnded(t, change)
					c := s.client(t, tt.window)
					for _, path := range tt.paths {
						c.ask(t, path)
					}
					_, _ = io.WriteString(c, tt.behind)
					testserver.Within(t, "the requests", func() { drain(s.began, len(tt.paths)) })
					if hasLeft := end(c.Conn); tt.leaving && !hasLeft {
						ends()["reset"](c.Conn)
					}
					testserver.Within(t, "the ends of its requests", func() { drain(s.ended, len(tt.paths)) })
					testserver.Wait(t, "the end of its connection", func() bool { return s.limit.Open() == 0 })
				})
			}
		}
	}
}

func drain(from chan string, n int) {
	for range n {
		<-from
	}
}

// What a window is left for is still sent, while what waits for one ends.
func TestStreamsWithWindowsOfEndedClients(t *testing.T) {
	for name, end := range ends() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveEnded(t, func(*ServerConfig) {})
			c := s.client(t, 0)
			later := c.ask(t, "/later")
			_ = c.framer.WriteWindowUpdate(later, 1000)
			c.ask(t, "/document")
			c.ask(t, "/document")
			testserver.Within(t, "the requests", func() { drain(s.began, 3) })
			if end(c.Conn) {
				close(s.release)
				drain(s.ended, 3)
				return
			}
			testserver.Within(t, "the ends of those that wait", func() { drain(s.ended, 2) })
			close(s.release)
			_ = c.SetReadDeadline(time.Now().Add(testserver.Patience))
			for got := 0; ; {
				frame, err := c.framer.ReadFrame()
				if err != nil {
					t.Fatalf("behind %d octets: %v", got, err)
				}
				data, ok := frame.(*http2.DataFrame)
				if !ok {
					continue
				}
				if got += len(data.Data()); data.StreamEnded() {
					if data.StreamID != later || got != 1000 {
						t.Errorf("%d octets on stream %d", got, data.StreamID)
					}
					return
				}
			}
		})
	}
}
