package proxytest

import (
	"io"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Request returns an HTTP/1.1 request of the client 192.0.2.1, without content. fields are pairs of a name
// and a value. The host is that of the field Host, of a target in absolute-form, or "urnd.example".
func Request(method, target string, fields ...string) *httpmessage.Incoming {
	in := &httpmessage.Incoming{
		Method: method, Target: target, Host: "urnd.example", Major: 1, Minor: 1,
		Fields: httpmessage.NewFields(fields...), Conn: new(Conn),
	}
	if host := in.Fields.Get("Host"); host != "" {
		in.Host = host
		in.Fields.Del("Host")
	}
	if u, err := url.Parse(target); err == nil && u.Host != "" {
		in.Host = u.Host
	}
	return in
}

// WithBody sets the content of a request, with a known length.
func WithBody(in *httpmessage.Incoming, content string) *httpmessage.Incoming {
	in.Body, in.ContentLength = strings.NewReader(content), int64(len(content))
	return in
}

// Overlay moves the strings of a request to a shared buffer, like those of a server that parses requests in
// place, and returns the function that overwrites the buffer.
func Overlay(in *httpmessage.Incoming) (overwrite func()) {
	var b strings.Builder
	texts := []*string{&in.Method, &in.Target, &in.Host, &in.Scheme}
	for i := range in.Fields {
		texts = append(texts, &in.Fields[i].Name, &in.Fields[i].Value)
	}
	for _, text := range texts {
		b.WriteString(*text)
	}
	buffer := []byte(b.String())
	over := textOf(buffer)
	in.SetBuffer(over)
	for _, text := range texts {
		n := len(*text)
		*text, over = over[:n], over[n:]
	}
	return func() {
		for i := range buffer {
			buffer[i] = '!'
		}
	}
}

// Record serves a request, and reports whether Begin has completed it.
func Record(h httpmessage.Handler, in *httpmessage.Incoming) (w *Recorder, started bool) {
	w = new(Recorder)
	if rest := h.Begin(in, w); rest != nil {
		rest.Continue()
		return w, false
	}
	return w, true
}

// Conn is the connection of a client. The zero value is a cleartext connection from 192.0.2.1.
type Conn struct {
	Remote, Local netip.AddrPort // the zero value of Remote is 192.0.2.1:1234, that of Local is unknown
	TLS           bool
	Name          string    // server name of the TLS handshake
	Session       io.Closer // result of Attached

	state any
}

// RemoteAddr implements httpmessage.Connection.
func (c *Conn) RemoteAddr() net.Addr {
	if !c.Remote.IsValid() {
		return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1234}
	}
	return net.TCPAddrFromAddrPort(c.Remote)
}

// LocalAddr implements httpmessage.Connection.
func (c *Conn) LocalAddr() net.Addr {
	if !c.Local.IsValid() {
		return nil
	}
	return net.TCPAddrFromAddrPort(c.Local)
}

// Secure implements httpmessage.Connection.
func (c *Conn) Secure() bool { return c.TLS }

// ServerName implements httpmessage.Connection.
func (c *Conn) ServerName() string { return c.Name }

// State implements httpmessage.Connection.
func (c *Conn) State() any { return c.state }

// SetState implements httpmessage.Connection.
func (c *Conn) SetState(state any) { c.state = state }

// Proxied implements httpmessage.Connection.
func (*Conn) Proxied() bool { return false }

// Attached implements httpmessage.Connection.
func (c *Conn) Attached() io.Closer { return c.Session }

// textOf returns a string that shares the memory of b.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
