package httpmessage

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// Handler responds to requests. It is safe for concurrent use.
type Handler interface {
	// Begin handles a request in the goroutine that reads the connection. If it can respond without waiting for
	// anything but the client, such as from the cache, it writes the response and returns nil. Otherwise it
	// writes nothing, clones the request and returns a Continuation. It does not read the body.
	Begin(r *Incoming, w ResponseWriter) Continuation
}

// Continuation completes a request that Begin has not responded to.
type Continuation interface {
	// Continue writes the response, with the Incoming and the ResponseWriter passed to Begin. It may block, and
	// returns when nothing of the request is in use any more. It is called exactly once, even if the client has
	// disconnected, because it also releases the resources that Begin acquired.
	Continue()
}

// ResponseWriter writes the response to one request, for any protocol version. Begin and Continue use it
// sequentially; methods that are safe for concurrent use say so. It must not be used after Begin, or Continue
// if there is one, has returned.
type ResponseWriter interface {
	// Context is canceled when the client disconnects or resets its stream, or when the server shuts down.
	// Begin does not call it.
	Context() context.Context
	// HalfClosed is canceled when the client closes its sending side of the connection; it may have
	// disconnected entirely (RFC 9112 section 9.6). It is nil if that is unknown.
	HalfClosed() context.Context
	// Available returns the number of bytes of content that can be written without waiting for the client to extend
	// a flow-control window. It is unlimited in HTTP/1.
	Available() int64

	// WriteInterim sends an interim response: RFC 9110 section 15.2. It is safe for concurrent use with the
	// other methods until WriteHeader is called. In HTTP/1.0 it does nothing.
	WriteInterim(status int, fields Fields)
	// WriteHeader begins the final response; further calls have no effect. reason is the reason phrase, "" for
	// that of RFC 9110. Content-Length in fields frames the content. Without it, short content that is complete
	// before the first Flush gets a Content-Length; longer content is chunked or delimited by the end of the
	// connection. "Connection: close" closes the connection after the response. Fields are sent in order with
	// their spelling (in lower case in HTTP/2), with line breaks in values replaced, and with Date added if
	// missing. fields and its strings are not retained.
	WriteHeader(status int, reason string, fields Fields)
	// Write writes content. The content of a response to HEAD, and of a response that has none (RFC 9110
	// section 6.4.1), is counted but not sent. It calls WriteHeader with 200 if that was not called before.
	// ReadFrom sends a limited file without copying it, if the protocol supports that.
	io.Writer
	io.ReaderFrom
	// WriteBuffers writes several buffers as one. It does not modify the buffers, but may modify the slice of
	// them.
	WriteBuffers(buffers [][]byte) (int64, error)
	// Flush sends the response written so far, at least the head. It returns an error if the client has
	// disconnected.
	Flush() error
	// SetTrailer sets the trailer fields. Announced fields are listed in the header field Trailer. HTTP/1.0
	// sends no trailer section, nor does HTTP/1.1 after content with a Content-Length.
	SetTrailer(fields Fields)

	// Abort terminates an incomplete response: it resets the connection in HTTP/1 and the stream in HTTP/2.
	Abort()
	// Truncate ends an incomplete response so that the client receives the part written so far, and can detect
	// from the framing that it is incomplete. In HTTP/1 the connection is closed. It returns false if it has
	// done nothing; the caller then needs Abort.
	Truncate() bool

	// SetReadDeadline sets a deadline for reads of the body, in addition to the server's timeout for each part.
	// The zero value is no deadline. A deadline in the distant past unblocks a pending read.
	SetReadDeadline(t time.Time) error
	// BodyTimedOut reports whether the client exceeded the time limit for a part of the body. It is safe for
	// concurrent use.
	BodyTimedOut() bool
	// Attach returns the handler's state for the client connection, which lives until the connection ends.
	// newOne creates it on the first call. It is nil if the connection may carry requests of several clients,
	// as in HTTP/2. Only Continue may call it.
	Attach(newOne func() io.Closer) io.Closer
	// Hijack hands the connection to the caller, who must close it, together with the bytes read beyond the
	// head. No response may have been begun. In HTTP/2 the connection is the stream: reads return the content
	// of its DATA frames, writes send DATA frames, and the response must have been begun. Writes to the
	// connection are subject to the deadlines of the server. It returns an error if the request cannot be taken
	// over.
	Hijack() (conn net.Conn, read []byte, err error)
}

// Request is an admitted request for one resource, to be sent to an origin. Code that forwards it with other
// fields copies it.
type Request struct {
	Method string
	URI    uri.URI // target URI: absolute, without a fragment
	// Spelling is the path and query sent over HTTP instead of those of URI; "" for those of URI.
	Spelling      string
	Host          string // Host header field if it differs from the host of URI; else ""
	Fields        Fields
	Body          io.Reader // nil for none
	ContentLength int64     // of Body; -1 if unknown
	Trailer       *Trailer  // nil for none
}

// Trailer is the trailer section of a message: RFC 9110 section 6.5.
type Trailer struct {
	Names  []string // names announced before the body
	Fields Fields   // must not be read before the end of the body
}

// Response is the response to a Request. Body is a stream and must be closed.
type Response struct {
	Status        int
	Reason        string // reason phrase of the origin; "" for none
	Fields        Fields
	Trailer       *Trailer // nil for none
	Body          io.ReadCloser
	ContentLength int64          // -1 if unknown
	RemoteAddr    netip.AddrPort // the server; the zero value if unknown
	// Private restricts the response to the client of the request, regardless of its fields.
	Private bool
}

// RequestIDField is the header field of the request identifier, in requests between proxies and in responses.
const RequestIDField = "X-Request-Id"

// AppendRequestID appends the request identifier to dst: came, if it is valid and from a trusted
// proxy, or else a new random one.
func AppendRequestID(dst []byte, came string, trusted bool) []byte {
	const valid = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:"
	if trusted && came != "" && len(came) <= 64 && strings.Trim(came, valid) == "" {
		return append(dst, came...)
	}
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64()) //nolint:gosec // not a secret
	return hex.AppendEncode(dst, id[:])
}

// TraceparentField is the header field of W3C Trace Context that identifies the trace of a request.
const TraceparentField = "Traceparent"

// traceparentForm matches the syntax of W3C Trace Context section 3.2.
var traceparentForm = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

// IsTraceparent reports whether a value is well-formed and may be forwarded.
func IsTraceparent(field string) bool { return len(field) <= 128 && traceparentForm.MatchString(field) }

// Header returns the values of the field lines with a name in the canonical form of net/http ("User-Agent"), or
// none. It is the protocol-independent way to read the header of a request. The caller must neither retain nor
// modify the result or its strings. Fields.Values and NewHeader provide implementations. The methods treat nil as
// an empty header.
type Header func(name string) []string

// Values returns the values of the lines of a field, or none.
func (l Header) Values(name string) []string {
	if l == nil {
		return nil
	}
	return l(name)
}

// Has reports whether the field has at least one line.
func (l Header) Has(name string) bool { return len(l.Values(name)) > 0 }

// Get returns the value of the first line of a field, or "".
func (l Header) Get(name string) string {
	if lines := l.Values(name); len(lines) > 0 {
		return lines[0]
	}
	return ""
}

// List returns the combined value of a field, or "": its lines joined with commas (RFC 9110 section 5.3).
func (l Header) List(name string) string { return strings.Join(l.Values(name), ", ") }
