package http1

import (
	"context"
	"io"
	"net"
	"time"
)

// Conn is an accepted connection of package listen, which handles TLS, the PROXY protocol, limits and write deadlines.
type Conn interface {
	net.Conn
	io.ReaderFrom // a file is sent without copying it
	// WriteBuffers writes several buffers as one, and consumes them.
	WriteBuffers(buffers net.Buffers) (int64, error)

	Secure() bool       // the connection uses TLS
	ServerName() string // of the TLS handshake (SNI), "" for none
	Proxied() bool      // the PROXY protocol names the client

	// SetServing marks the connection as serving a request. It returns false if the connection was evicted or closed;
	// then no response must be sent. SetIdle marks it as waiting for a request of which nothing was received.
	SetServing() bool
	SetIdle()
	// Draining reports whether the server is shutting down, and asks clients to close their connections.
	Draining() bool
	// BeginWait starts to watch for a disconnect of the client while a request waits: the returned context
	// ends then. EndWait stops watching.
	BeginWait() context.Context
	EndWait()
	// HalfClosed ends when the client has closed its side of the connection while a request waits.
	HalfClosed() context.Context

	// Suspend allows Serve to return while the connection is idle: it waits without a buffer until by. Then it
	// calls resume in another goroutine, instead of Serve, with an error if nothing was received.
	Suspend(by time.Time, resume func(err error))
	// CanReadEach reports whether ReadEach may be called. ReadEach reads into p, with one system call per
	// read, and calls received with each size, until that returns false. The read deadline ends it.
	CanReadEach() bool
	ReadEach(p []byte, received func(n int) (again bool)) error

	// Abort makes writes fail, and the next Close a reset.
	Abort()
	// Linger closes the writing side, discards received data for a short time, and closes the connection: RFC
	// 9112 section 9.6.
	Linger() error
	// Release means that Serve returns without closing the connection: its new owner does that.
	Release()
}
