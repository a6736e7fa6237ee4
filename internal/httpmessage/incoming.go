package httpmessage

import (
	"io"
	"net"
	"strings"
	"unsafe"
)

// Incoming is a request as a client has sent it, whatever protocol brought it. A server reads requests of a connection into the same
// Incoming one after another: its texts may lie over the buffer of the connection, and are valid until the handler has answered. Clone
// makes them last.
type Incoming struct {
	Method string
	// Target is the request-target as it came (RFC 9112 section 3.2): by HTTP/2 :path, or of CONNECT :authority.
	Target string
	// Host is the value of Host, or the authority of a target in absolute-form; by HTTP/2 :authority, or else Host.
	Host string
	// Scheme is :scheme by HTTP/2, "" by HTTP/1.
	Scheme string
	// Protocol is :protocol of an extended CONNECT, "" for none: RFC 8441 section 4. Such a request is one by GET to Target, without
	// content, to change to the protocol; TakeOver is allowed behind a 2xx response, which says that it was changed.
	Protocol     string
	Major, Minor int // the version of HTTP
	// Fields are all lines in the order and the spelling in which they came, but Host, Transfer-Encoding and Trailer.
	Fields Fields
	// Body is the content, nil for none. Only Continue may read it.
	Body          io.Reader
	ContentLength int64    // of Body; -1 where it is not known
	Trailer       *Trailer // nil for none
	// Closes is whether the client ends the connection behind the response (RFC 9112 section 9.6), or the protocol does.
	Closes bool
	Conn   Connection

	text  string // that the texts lie over; "" where they have memory of their own
	lines Lines
}

// AtLeast reports whether the client speaks a version of HTTP or a later one.
func (r *Incoming) AtLeast(major, minor int) bool {
	return r.Major > major || r.Major == major && r.Minor >= minor
}

// Proto returns the version as it is logged: "HTTP/1.1".
func (r *Incoming) Proto() string {
	switch {
	case r.Major == 2:
		return "HTTP/2.0"
	case r.Minor == 0:
		return "HTTP/1.0"
	default:
		return "HTTP/1.1"
	}
}

// Header returns the lines of the request by name, also of those that the same Incoming is later. It allocates once.
func (r *Incoming) Header() Lines {
	if r.lines == nil {
		r.lines = func(name string) []string { return r.Fields.Lines(name) }
	}
	return r.lines
}

// Over says that the texts of the request lie over text: the buffer of a connection.
func (r *Incoming) Over(text string) { r.text = text }

// Reset forgets the request, and keeps the memory of its fields for the next one.
func (r *Incoming) Reset() {
	clear(r.Fields)
	*r = Incoming{Fields: r.Fields[:0], Conn: r.Conn, lines: r.lines}
}

// Clone moves the texts of the request to memory of its own, once, and returns what moves others that were made of them. A request
// that is still answered when its buffer is used again, or of which something is stored, must be cloned before.
func (r *Incoming) Clone() Copy {
	if r.text == "" {
		return Copy{}
	}
	c := Copy{from: r.text, to: strings.Clone(r.text)}
	r.Method, r.Target, r.Host, r.Scheme, r.Protocol = c.Of(r.Method), c.Of(r.Target), c.Of(r.Host), c.Of(r.Scheme), c.Of(r.Protocol)
	for i, f := range r.Fields {
		r.Fields[i] = Field{c.Of(f.Name), c.Of(f.Value)}
	}
	r.text = ""
	return c
}

// Copy is a copy of the text that a request lies over. The zero value is for texts that have memory of their own.
type Copy struct{ from, to string }

// Of returns a text that lies over the request as a part of the copy, and any other one as it is.
func (c Copy) Of(text string) string {
	if copied, ok := c.find(text); ok {
		return copied
	}
	return text
}

// Lasting is Of, but returns a copy of any other text, which may lie over memory that is used again.
func (c Copy) Lasting(text string) string {
	if copied, ok := c.find(text); ok {
		return copied
	}
	return strings.Clone(text)
}

// find returns the part of the copy that is a text which lies over the request.
func (c Copy) find(text string) (copied string, ok bool) {
	//nolint:gosec // they are compared alone
	start, base := uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(unsafe.Pointer(unsafe.StringData(c.from)))
	if start < base || start-base > uintptr(len(c.from)) {
		return "", false
	}
	at := int(start - base)
	copied = c.to[at:min(at+len(text), len(c.to))]
	return copied, text != "" && copied == text
}

// Connection is what is known of the connection of a client. Its methods are for the goroutine of a Begin, but for those that are about
// the peer, which may be called by all.
type Connection interface {
	RemoteAddr() net.Addr // of the client, also behind a proxy of the PROXY protocol
	LocalAddr() net.Addr  // that the client has connected to; nil where that is not known
	Secure() bool         // whether the requests come by TLS
	ServerName() string   // of the TLS handshake, "" for none
	Proxied() bool        // whether a proxy in front has named the client by the PROXY protocol
	// State is what the handler keeps with the connection, nil for nothing. The server drops it while the connection is idle, and at its
	// end, and closes it then if it is an io.Closer.
	State() any
	SetState(state any)
	// Attached is what Continuations keep with the connection until its end (ResponseWriter.Attach), nil for nothing.
	Attached() io.Closer
}
