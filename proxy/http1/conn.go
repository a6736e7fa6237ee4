package http1

import (
	"context"
	"io"
	"net"
	"time"
)

// Conn is an accepted connection, as package listen has it: TLS, the PROXY protocol, limits and the deadlines of writes
// are below it.
type Conn interface {
	net.Conn
	io.ReaderFrom // a file is sent without copying it
	// WriteBuffers writes several buffers as one, which it consumes.
	WriteBuffers(buffers net.Buffers) (int64, error)

	Secure() bool       // whether it has TLS
	ServerName() string // of the TLS handshake, "" for none
	Proxied() bool      // whether the client is named by the PROXY protocol

	// Serving says that a request is under way; it returns false where the connection was evicted or closed, and
	// nothing more is answered. Idle says that the connection waits for a request of which nothing has come.
	Serving() bool
	Idle()
	// Draining reports whether clients are asked to close their connections.
	Draining() bool
	// BeginWait begins to watch whether the client leaves, while a request waits for others: its context ends then.
	// EndWait ends that.
	BeginWait() context.Context
	EndWait()
	// HalfClosed ends when the client has ended its side of the connection while a request waits.
	HalfClosed() context.Context

	// Park lets Serve return while the connection is idle: what comes next is waited for without a buffer, until by,
	// and resume is called in the place of Serve then, in another goroutine, with an error where nothing has come.
	Park(by time.Time, resume func(err error))
	// CanReadEach reports whether ReadEach may be called, which reads into p and calls received with the size of each
	// read, by one system call a read, until that returns false. The deadline of reads ends it.
	CanReadEach() bool
	ReadEach(p []byte, received func(n int) (again bool)) error

	// Abort makes writes fail, and the next Close a reset.
	Abort()
	// Linger ends the writing side, discards what the client still sends for a short time, and closes: RFC 9112 section
	// 9.6.
	Linger() error
	// Release says that the connection is not closed when Serve returns: who serves it, or has taken it over, does that.
	Release()
}
