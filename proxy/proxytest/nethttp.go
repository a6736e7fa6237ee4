// Package proxytest connects handlers of package httpmessage with tests: it serves them with net/http, and
// records their responses without a protocol. Requests of net/http or of Request enter; responses of net/http
// or a Recorder leave. It follows the semantics of RFC 9110.
package proxytest

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Handler returns an http.Handler that serves requests with h.
func Handler(h httpmessage.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { Serve(h, w, r) })
}

// Serve serves a request with h.
func Serve(h httpmessage.Handler, w http.ResponseWriter, r *http.Request) {
	in := Incoming(r)
	out := newResponse(w, r)
	if rest := h.Begin(in, out); rest != nil {
		rest.Continue()
	}
	if !out.hasBegun && !out.taken {
		out.WriteHeader(http.StatusOK, "", nil)
	}
}

// Writer returns a ResponseWriter that writes the response to a request of net/http.
func Writer(w http.ResponseWriter, r *http.Request) httpmessage.ResponseWriter {
	return newResponse(w, r)
}

func newResponse(w http.ResponseWriter, r *http.Request) *response {
	return &response{w: w, r: r, control: http.NewResponseController(w)}
}

// Incoming returns a request of net/http as a request of package httpmessage.
func Incoming(r *http.Request) *httpmessage.Incoming {
	m := httpmessage.FromRequest(r)
	return &httpmessage.Incoming{
		Method: m.Method, Target: r.RequestURI, Host: r.Host, Major: r.ProtoMajor, Minor: r.ProtoMinor,
		Fields: m.Fields, Body: m.Body, ContentLength: m.ContentLength, Trailer: m.Trailer, Close: r.Close,
		Conn: &connection{r: r},
	}
}

// connection is the connection of a request of net/http, of which only the addresses and TLS are known.
type connection struct {
	r     *http.Request
	state any
}

func (c *connection) RemoteAddr() net.Addr {
	at, _ := netip.ParseAddrPort(c.r.RemoteAddr)
	return net.TCPAddrFromAddrPort(at)
}

func (c *connection) LocalAddr() net.Addr {
	local, _ := c.r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return local
}

func (c *connection) Secure() bool { return c.r.TLS != nil }

func (c *connection) ServerName() string {
	if c.r.TLS == nil {
		return ""
	}
	return c.r.TLS.ServerName
}

func (c *connection) State() any         { return c.state }
func (c *connection) SetState(state any) { c.state = state }
func (*connection) Proxied() bool        { return false }
func (*connection) Attached() io.Closer  { return nil }

// response is an http.ResponseWriter as an httpmessage.ResponseWriter.
type response struct {
	w        http.ResponseWriter
	r        *http.Request
	control  *http.ResponseController
	mu       sync.Mutex // guards interim responses
	hasBegun bool
	taken    bool
}

func (r *response) Context() context.Context  { return r.r.Context() }
func (*response) HalfClosed() context.Context { return nil }
func (*response) Available() int64            { return math.MaxInt64 }

func (r *response) WriteInterim(status int, fields httpmessage.Fields) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hasBegun || !r.r.ProtoAtLeast(1, 1) {
		return
	}
	header := r.w.Header()
	fields.Clone().CopyTo(header)
	r.w.WriteHeader(status)
	clear(header)
}

func (r *response) WriteHeader(status int, _ string, fields httpmessage.Fields) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hasBegun {
		return
	}
	r.hasBegun = true
	header := r.w.Header()
	persistent := make(httpmessage.Fields, 0, len(fields))
	for _, f := range fields {
		persistent.Add(string([]byte(f.Name)), string([]byte(f.Value)))
	}
	persistent.CopyTo(header)
	if header["Content-Type"] == nil {
		header["Content-Type"] = nil // net/http would guess a media type
	}
	r.w.WriteHeader(status)
}

func (r *response) begin() {
	if !r.hasBegun {
		r.WriteHeader(http.StatusOK, "", nil)
	}
}

func (r *response) Write(p []byte) (int, error) {
	r.begin()
	return r.w.Write(p)
}

func (r *response) ReadFrom(from io.Reader) (int64, error) {
	r.begin()
	return io.Copy(r.w, from)
}

func (r *response) WriteBuffers(buffers [][]byte) (int64, error) {
	r.begin()
	return (*net.Buffers)(&buffers).WriteTo(onlyWriter{r.w})
}

type onlyWriter struct{ io.Writer }

func (r *response) Flush() error {
	r.begin()
	return r.control.Flush()
}

func (r *response) SetTrailer(fields httpmessage.Fields) {
	for _, f := range fields {
		r.w.Header().Add(http.TrailerPrefix+f.Name, f.Value)
	}
}

func (r *response) Abort()                            { _ = r.control.SetWriteDeadline(time.Unix(1, 0)) }
func (*response) Truncate() bool                      { return false }
func (r *response) SetReadDeadline(t time.Time) error { return r.control.SetReadDeadline(t) }
func (*response) BodyTimedOut() bool                  { return false }
func (*response) Attach(func() io.Closer) io.Closer   { return nil }
func (r *response) Hijack() (net.Conn, []byte, error) {
	conn, buffered, err := r.control.Hijack()
	if err != nil {
		return nil, nil, err
	}
	r.taken = true
	read, _ := buffered.Peek(buffered.Reader.Buffered())
	return conn, read, nil
}
