package httpmessage

import (
	"io"
	"net"
	"strings"
	"unsafe"
)

// Incoming is a request as received from a client, for any protocol version. A server reuses one Incoming for
// the requests of a connection: its strings may point into the buffer of the connection and are valid until the
// handler has responded. Clone gives them their own memory.
type Incoming struct {
	Method string
	// Target is the received request-target (RFC 9112 section 3.2). In HTTP/2 it is :path, or :authority for
	// CONNECT.
	Target string
	// Host is the value of Host, or the authority of a target in absolute-form. In HTTP/2 it is :authority, or
	// else Host.
	Host string
	// Scheme is :scheme in HTTP/2, "" in HTTP/1.
	Scheme string
	// Protocol is :protocol of an extended CONNECT, "" for none: RFC 8441 section 4. Such a request is
	// represented as a GET request to Target without content that switches protocols. After a 2xx response,
	// which accepts the switch, Hijack is permitted.
	Protocol     string
	Major, Minor int // HTTP version
	// Fields contains all field lines in order with their spelling, except Host, Transfer-Encoding and Trailer.
	Fields Fields
	// Body is the content, nil for none. Only Continue may read it.
	Body          io.Reader
	ContentLength int64    // of Body; -1 if unknown
	Trailer       *Trailer // nil for none
	// Close is set if the connection ends after the response, by request of the client (RFC 9112 section 9.6)
	// or by the rules of the protocol version.
	Close bool
	Conn  Connection

	text  string // buffer that the strings point into; "" if they have their own memory
	lines Header
}

// AtLeast reports whether the HTTP version of the request is this version or a later one.
func (r *Incoming) AtLeast(major, minor int) bool {
	return r.Major > major || r.Major == major && r.Minor >= minor
}

// Proto returns the HTTP version in the form used in logs: "HTTP/1.1".
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

// Header returns a lookup of field lines by name. It remains valid for later requests in the same Incoming. It
// allocates only on the first call.
func (r *Incoming) Header() Header {
	if r.lines == nil {
		r.lines = func(name string) []string { return r.Fields.Values(name) }
	}
	return r.lines
}

// SetBuffer records that the strings of the request point into text, the buffer of a connection.
func (r *Incoming) SetBuffer(text string) { r.text = text }

// Reset clears the request but keeps the memory of its fields for the next one.
func (r *Incoming) Reset() {
	clear(r.Fields)
	*r = Incoming{Fields: r.Fields[:0], Conn: r.Conn, lines: r.lines}
}

// Clone moves the strings of the request to memory of their own, unless that was done before. The returned CloneMap
// converts other strings derived from the request. A request must be cloned before its buffer is reused while
// the request is in use, and before any part of it is stored.
func (r *Incoming) Clone() CloneMap {
	if r.text == "" {
		return CloneMap{}
	}
	c := CloneMap{from: r.text, to: strings.Clone(r.text)}
	r.Method, r.Target, r.Host, r.Scheme, r.Protocol = c.Map(r.Method), c.Map(r.Target), c.Map(r.Host), c.Map(r.Scheme),
		c.Map(r.Protocol)
	for i, f := range r.Fields {
		r.Fields[i] = Field{c.Map(f.Name), c.Map(f.Value)}
	}
	r.text = ""
	return c
}

// CloneMap maps strings in the original buffer of a request to its clone. The zero value is for requests that
// already have their own memory.
type CloneMap struct{ from, to string }

// Map returns the corresponding part of the clone if text points into the original buffer, and text itself
// otherwise.
func (c CloneMap) Map(text string) string {
	if copied, ok := c.find(text); ok {
		return copied
	}
	return text
}

// Clone is like Map, but clones a text that does not point into the original buffer, because its memory might
// be reused as well.
func (c CloneMap) Clone(text string) string {
	if copied, ok := c.find(text); ok {
		return copied
	}
	return strings.Clone(text)
}

// find returns the part of the clone that corresponds to text; ok is false if text does not point into the
// original buffer.
func (c CloneMap) find(text string) (copied string, ok bool) {
	//nolint:gosec // they are compared alone
	start, base := uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(unsafe.Pointer(unsafe.StringData(c.from)))
	if start < base || start-base > uintptr(len(c.from)) {
		return "", false
	}
	at := int(start - base)
	copied = c.to[at:min(at+len(text), len(c.to))]
	return copied, text != "" && copied == text
}

// Connection describes the connection of a client. Methods may only be called in the goroutine of Begin, except
// for those that describe the peer, which are safe for concurrent use.
type Connection interface {
	RemoteAddr() net.Addr // address of the client, also behind a proxy with the PROXY protocol
	LocalAddr() net.Addr  // local address of the connection; nil if unknown
	Secure() bool         // uses TLS
	ServerName() string   // SNI of the TLS handshake, "" for none
	Proxied() bool        // a proxy in front has named the client by the PROXY protocol
	// State is the handler's state for the connection, nil for none. The server drops it when the connection
	// becomes idle or ends, and closes it if it is an io.Closer.
	State() any
	SetState(state any)
	// Attached is the state of ResponseWriter.Attach for the connection, which lives until the connection ends;
	// nil for none.
	Attached() io.Closer
}
