package httpmessage

import (
	"context"
	"io"
	"net"
	"time"
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
