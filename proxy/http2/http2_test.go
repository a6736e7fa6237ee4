package http2_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	framing "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http2"
)

// handler answers by Begin, or by Continue if next is set.
type handler struct {
	begin func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) bool // reports whether it has answered
	next  func(r *httpmessage.Incoming, w httpmessage.ResponseWriter)
}

func (h handler) Begin(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
	if h.begin != nil && h.begin(r, w) {
		return nil
	}
	r.Clone()
	return continuation(func() { h.next(r, w) })
}

type continuation func()

func (c continuation) Continue() { c() }

// atOnce answers by Begin.
func atOnce(f func(r *httpmessage.Incoming, w httpmessage.ResponseWriter)) handler {
	return handler{begin: func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) bool { f(r, w); return true }}
}

// later answers by Continue.
func later(f func(r *httpmessage.Incoming, w httpmessage.ResponseWriter)) handler {
	return handler{next: f}
}

// modes are the two ways of answering.
func modes() map[string]func(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter)) handler {
	type answer = func(r *httpmessage.Incoming, w httpmessage.ResponseWriter)
	return map[string]func(answer) handler{"Begin": atOnce, "Continue": later}
}

func text(w httpmessage.ResponseWriter, body string) { _, _ = io.WriteString(w, body) }

// server is a server of this package, with one connection.
type server struct {
	conn   *stub
	client *pipe
	server *http2.Server
	ended  chan struct{}
}

func config(h httpmessage.Handler, change func(*http2.Config)) http2.Config {
	c := http2.Config{
		Handler: h, Now: time.Now, Log: slog.New(slog.DiscardHandler), MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
	}
	if change != nil {
		change(&c)
	}
	return c
}

// serve serves an in-memory connection, until the end of the test.
func serve(t testing.TB, h httpmessage.Handler, change func(*http2.Config)) *server {
	t.Helper()
	s := http2.NewServer(config(h, change))
	t.Cleanup(s.Close)
	return serveBy(t, s)
}

// serveBy serves a connection by a server that may have others.
func serveBy(t testing.TB, by *http2.Server) *server {
	t.Helper()
	client, conn := newPipe()
	s := &server{conn: newStub(conn), client: client, server: by, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.conn.serve(s.server)
	}()
	t.Cleanup(func() {
		client.reset()
		s.conn.leave()
		<-s.ended
	})
	return s
}

// client is a client that can send any frame.
type client struct {
	*framing.Framer
	t      testing.TB
	conn   io.ReadWriteCloser
	block  bytes.Buffer
	hpack  *hpack.Encoder
	stream uint32
}

func newClient(t testing.TB, conn io.ReadWriteCloser) *client {
	c := &client{Framer: framing.NewFramer(conn, conn), t: t, conn: conn}
	c.hpack = hpack.NewEncoder(&c.block)
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.AllowIllegalWrites = true
	c.stream = 1<<32 - 1
	return c
}

// open sends the preface and settings.
func (s *server) open(t testing.TB, settings ...framing.Setting) *client {
	c := newClient(t, s.client)
	_, _ = io.WriteString(c.conn, framing.ClientPreface)
	_ = c.WriteSettings(settings...)
	_ = c.WriteSettingsAck()
	return c
}

// encode encodes fields, given as "name: value".
func (c *client) encode(fields ...string) []byte {
	c.block.Reset()
	for _, field := range fields {
		i := strings.Index(field[1:], ":") + 1
		_ = c.hpack.WriteField(hpack.HeaderField{Name: field[:i], Value: strings.TrimPrefix(field[i+1:], " ")})
	}
	return c.block.Bytes()
}

func get(path string, fields ...string) []string {
	return append([]string{":method: GET", ":scheme: https", ":authority: a.example", ":path: " + path}, fields...)
}

func post(path string, fields ...string) []string {
	return append([]string{":method: POST", ":scheme: https", ":authority: a.example", ":path: " + path}, fields...)
}

// ask starts a request, and returns its stream identifier.
func (c *client) ask(end bool, fields ...string) uint32 {
	c.stream += 2
	_ = c.askOn(c.stream, end, fields...)
	return c.stream
}

func (c *client) askOn(stream uint32, end bool, fields ...string) error {
	block := c.encode(fields...)
	first := block[:min(len(block), 16<<10)]
	err := c.WriteHeaders(framing.HeadersFrameParam{
		StreamID: stream, BlockFragment: first, EndStream: end, EndHeaders: len(first) == len(block),
	})
	for block = block[len(first):]; len(block) > 0; {
		part := block[:min(len(block), 16<<10)]
		block = block[len(part):]
		err = c.WriteContinuation(stream, len(block) == 0, part)
	}
	return err
}

// answer is the response on a stream.
type answer struct {
	status   string
	interim  []string
	fields   []string
	body     string
	trailers []string
	code     string // of RST_STREAM, or "GOAWAY " and its code, or of a read error
	ended    bool
}

func (a answer) String() string {
	return fmt.Sprintf("%s %v %.100q %v %s", a.status, a.fields, a.body, a.trailers, a.code)
}

func (a answer) field(name string) string {
	for _, f := range a.fields {
		if value, ok := strings.CutPrefix(f, name+": "); ok {
			return value
		}
	}
	return ""
}

// take handles a frame of a response, and reports whether the stream has ended.
func (a *answer) take(frame framing.Frame) bool {
	switch f := frame.(type) {
	case *framing.MetaHeadersFrame:
		status := f.PseudoValue("status")
		var fields []string
		for _, field := range f.RegularFields() {
			fields = append(fields, field.Name+": "+field.Value)
		}
		switch {
		case strings.HasPrefix(status, "1"):
			a.interim = append(a.interim, strings.Join(append([]string{status}, fields...), " "))
		case status == "":
			a.trailers = fields
		default:
			a.status, a.fields = status, fields
		}
		a.ended = f.StreamEnded()
	case *framing.DataFrame:
		a.body += string(f.Data())
		a.ended = f.StreamEnded()
	case *framing.RSTStreamFrame:
		a.code = f.ErrCode.String()
		return true
	case *framing.GoAwayFrame:
		a.code = "GOAWAY " + f.ErrCode.String()
		return true
	}
	return a.ended
}

// receive reads frames until a stream has ended, and drops those of other streams.
func (c *client) receive(stream uint32) (a answer) {
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			a.code += err.Error()
			return a
		}
		if f, ok := frame.(*framing.GoAwayFrame); ok && f.ErrCode == framing.ErrCodeNo && f.LastStreamID >= stream {
			continue
		}
		if id := frame.Header().StreamID; id != stream && (id != 0 || frame.Header().Type != framing.FrameGoAway) {
			continue
		}
		if a.take(frame) {
			return a
		}
	}
}

// receiveAny reads a response without content, on any stream.
func (c *client) receiveAny() (a answer) {
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			a.code += err.Error()
			return a
		}
		if a.take(frame) {
			return a
		}
	}
}

// plain answers a request with its fields.
func plain(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %s %s", r.Method, r.Scheme, r.Host, r.Target, r.Proto())
	for _, f := range r.Fields {
		fmt.Fprintf(&b, " %s=%s", f.Name, f.Value)
	}
	w.WriteHeader(200, "", httpmessage.NewFields("Content-Type", "text/plain"))
	text(w, b.String())
}

// waitTime limits a test that would hang.
const waitTime = 10 * time.Second

func within(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(waitTime):
		t.Fatalf("%s does not end", what)
	}
}

// listenTCP serves HTTP/2 without TLS on a port, for clients with prior knowledge.
func listenTCP(t testing.TB, h httpmessage.Handler, change func(*http2.Config)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := http2.NewServer(config(h, change))
	var mu sync.Mutex
	var open []*stub
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c := newStub(conn)
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			running.Go(func() { c.serve(s) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, c := range open {
			c.leave()
			_ = c.Close()
		}
		mu.Unlock()
		running.Wait()
		s.Close()
	})
	return listener.Addr().String()
}
