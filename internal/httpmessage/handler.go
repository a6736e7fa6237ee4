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

// Handler answers requests. It is safe for concurrent use.
type Handler interface {
	// Begin answers a request where it need not wait for anything but its client, as from a cache, and returns nil. Else it returns
	// what goes on with the answer where it stands, having written nothing; the request was cloned then. It is called in the goroutine
	// that reads the connection, and does not read the body.
	Begin(r *Incoming, w ResponseWriter) Continuation
}

// Continuation is the rest of an answer that Begin has begun.
type Continuation interface {
	// Continue answers the request, with the Incoming and the ResponseWriter that Begin was called with. It may wait, and returns
	// when nothing of the request is used any more. It is called once, also where the client has left meanwhile: it gives back what
	// Begin has taken.
	Continue()
}

// ResponseWriter writes the response to one request, whatever the protocol. Begin and Continue use it one after the other; a method
// that may be called by several goroutines at a time says so. Nothing is written behind the return of Begin or Continue.
type ResponseWriter interface {
	// Context ends when the client has left, or has reset its stream, or the server ends. Begin does not ask for it.
	Context() context.Context
	// HalfClosed ends when the client has ended its side of the connection: it may have left (RFC 9112 section 9.6). It is nil where
	// that is not known, as by HTTP/2, whose clients end a stream with each request.
	HalfClosed() context.Context
	// Room returns how many bytes of content can be written without waiting for the client to open a flow-control window: by HTTP/1 any
	// number.
	Room() int64

	// WriteInterim sends an interim response: RFC 9110 section 15.2. It is safe for concurrent use with the other methods until
	// WriteHeader is called. By HTTP/1.0 it does nothing.
	WriteInterim(status int, fields Fields)
	// WriteHeader begins the response, the first time that it is called. reason are the words of the status, "" for those of RFC 9110.
	// A Content-Length in fields frames the content; without one the content has the length of what is written before the first Flush
	// where that is little, or chunks, or ends with the connection. "Connection: close" ends the connection behind the response.
	// Fields are sent in their order and spelling (by HTTP/2 in lower case), without line ends in their values, and with Date where
	// there is none. Neither fields nor their texts are used when it returns.
	WriteHeader(status int, reason string, fields Fields)
	// Write writes content. Of a response to HEAD, and of those that have none (RFC 9110 section 6.4.1), it is counted and not sent.
	// It calls WriteHeader with 200 where that was not. ReadFrom sends a limited file without copying it, where the protocol can.
	io.Writer
	io.ReaderFrom
	// WriteBuffers is Write of several buffers as one. They are not changed, but the slice of them may be.
	WriteBuffers(buffers [][]byte) (int64, error)
	// Flush sends what was written, the head at least, and returns the error of a client that has left.
	Flush() error
	// SetTrailer sets the fields behind the content; announced ones are named by Trailer in the head. By HTTP/1.0, and behind a content
	// of a known length by HTTP/1.1, they are not sent.
	SetTrailer(fields Fields)

	// Abort ends the response in its middle: by HTTP/1 with a reset of the connection, by HTTP/2 of the stream.
	Abort()
	// EndEarly ends the response behind what was written where its framing shows that more is missing, so that the client gets that: the
	// connection is closed by HTTP/1. It reports false where it does nothing, and Abort is needed.
	EndEarly() bool

	// SetReadDeadline sets the time at which reads of the body end, besides that which the server sets for each part; the zero value is
	// none. One in the distant past ends a read that waits.
	SetReadDeadline(t time.Time) error
	// BodyLate reports whether the client took too long to send a part of the body. It is safe for concurrent use.
	BodyLate() bool
	// Attach returns what handlers keep with the connection of the client until its end, which newOne makes for the first that asks. It
	// is nil where requests of several clients may come by the connection, as by HTTP/2. Only Continue may call it.
	Attach(newOne func() io.Closer) io.Closer
	// TakeOver gives the connection to the caller, who closes it, with what was read of it behind the head. Nothing was written before.
	// By HTTP/2 the connection is the stream: reads are of its DATA, writes are its content, and the response was begun before. What is
	// written to the connection is bounded by the deadlines of the server. An error is for a request that cannot be taken over.
	TakeOver() (conn net.Conn, read []byte, err error)
}

// Request is a request for one resource, from where it is admitted to the origin. Who passes it on with other fields copies it.
type Request struct {
	Method string
	URI    uri.URI // the target: absolute, without fragment
	// Spelling is the path and query that are sent by HTTP in place of those of URI; "" for those.
	Spelling      string
	Host          string // the value of Host, where it is not the host of URI; "" for that
	Fields        Fields
	Body          io.Reader // nil for none
	ContentLength int64     // of Body; -1 if unknown
	Trailer       *Trailer  // nil for none
}

// Trailer are the fields behind a body: RFC 9110 section 6.5.
type Trailer struct {
	Names  []string // those that are known before the body
	Fields Fields   // complete at the end of the body, and not to be read before
}

// Response is the response to a Request, whose body is a stream. It must be closed.
type Response struct {
	Status        int
	Reason        string // the words that the origin gave the status; "" for none
	Fields        Fields
	Trailer       *Trailer // nil for none
	Body          io.ReadCloser
	ContentLength int64          // -1 if unknown
	From          netip.AddrPort // the server; the zero value where it is not known
	// Private is whether it is for the client that has asked alone, whatever its fields say.
	Private bool
}

// RequestIDField is the field of the request identifier, between proxies and in responses.
const RequestIDField = "X-Request-Id"

// AppendRequestID appends to dst the request identifier that a request has come with, if that is valid and from a proxy which is trusted, or
// else a new one.
func AppendRequestID(dst []byte, came string, trusted bool) []byte {
	const valid = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:"
	if trusted && came != "" && len(came) <= 64 && strings.Trim(came, valid) == "" {
		return append(dst, came...)
	}
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64()) //nolint:gosec // it need not be secret
	return hex.AppendEncode(dst, id[:])
}

// TraceparentField is the field of W3C Trace Context that identifies the trace of a request.
const TraceparentField = "Traceparent"

// traceparentForm is section 3.2 of W3C Trace Context.
var traceparentForm = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

// IsTraceparent reports whether a value is well formed and may be passed on.
func IsTraceparent(field string) bool { return len(field) <= 128 && traceparentForm.MatchString(field) }

// Lines returns the values of the lines of a field, by its name as net/http spells it, "User-Agent"; none where it is missing. It
// is how a request is read, by whichever protocol it came. The caller neither keeps nor changes the lines or their texts.
// Fields.Lines is one, LinesOf another. The methods take nil as fields without lines.
type Lines func(name string) []string

// Of returns the values of the lines of a field, none where it is missing.
func (l Lines) Of(name string) []string {
	if l == nil {
		return nil
	}
	return l(name)
}

// Has reports whether there is a line of a field.
func (l Lines) Has(name string) bool { return len(l.Of(name)) > 0 }

// Value returns the value of the first line of a field, "" for none.
func (l Lines) Value(name string) string {
	if lines := l.Of(name); len(lines) > 0 {
		return lines[0]
	}
	return ""
}

// List returns the value of a field as a whole, "" for none: its lines are one list (RFC 9110 section 5.3).
func (l Lines) List(name string) string { return strings.Join(l.Of(name), ", ") }
