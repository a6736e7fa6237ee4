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

// Request returns a request by HTTP/1.1 of the client 192.0.2.1, without content and with fields, in pairs of a name and a value; the host
// is that of Host among them, of a target in absolute-form, or "urnd.example".
func Request(method, target string, fields ...string) *httpmessage.Incoming {
	in := &httpmessage.Incoming{
		Method: method, Target: target, Host: "urnd.example", Major: 1, Minor: 1,
		Fields: httpmessage.FieldsOf(fields...), Conn: new(Conn),
	}
	if host := in.Fields.Value("Host"); host != "" {
		in.Host = host
		in.Fields.Del("Host")
	}
	if u, err := url.Parse(target); err == nil && u.Host != "" {
		in.Host = u.Host
	}
	return in
}

// WithBody gives a request a content of a known length.
func WithBody(in *httpmessage.Incoming, content string) *httpmessage.Incoming {
	in.Body, in.ContentLength = strings.NewReader(content), int64(len(content))
	return in
}

// Overlay moves the texts of a request to a buffer, as those that a server reads lie over its own, and returns what overwrites that.
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
	in.Over(over)
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

// Answer answers a request, and reports whether Begin did.
func Answer(h httpmessage.Handler, in *httpmessage.Incoming) (w *Recorder, begun bool) {
	w = new(Recorder)
	if rest := h.Begin(in, w); rest != nil {
		rest.Continue()
		return w, false
	}
	return w, true
}

// Conn is the connection of a client. The zero value is one in clear text from 192.0.2.1.
type Conn struct {
	Remote, Local netip.AddrPort // the zero value of Remote is 192.0.2.1:1234, of Local an unknown one
	TLS           bool
	Name          string    // of the TLS handshake
	Session       io.Closer // what Attached returns

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

// textOf returns bytes as a text that changes with them.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
