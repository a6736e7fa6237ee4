package listen

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// FastPath answers plain requests from caches, before net/http reads them. It is invisible: a response is the one
// that the handler would have sent.
type FastPath interface {
	// AnswerFast answers the requests that octets begin with, as many as it can, by writing to c, and returns how
	// many octets they were: 0 where the first one is for the handler. The octets are valid until it returns.
	AnswerFast(c *FastConn, octets []byte) (used int)
}

// FastConn is a connection whose requests a FastPath may answer. Its goroutine alone uses it.
//
// net/http reads from a connection into an empty buffer only where it waits for a request. So a read of that
// size, while the connection is new or idle, is the only place where the fast path looks at what comes; what it
// does not answer goes to net/http unchanged, and the fast path stays out until the connection is idle again.
type FastConn struct {
	State any // of the FastPath

	conn    *requestConn
	path    FastPath
	tracked *connections
	io      *fastIO // nil before the first write

	size    int  // of the buffer of net/http; 0 before the first read
	between bool // no octet of a request has gone to net/http
	isNew   bool // net/http has seen no request: it waits with the header timeout

	state  atomic.Int32 // waiting, answering, ending or closed
	unseen atomic.Bool  // see isUnseen
	// hasAnswered is whether something was answered since net/http has waited.
	hasAnswered bool
	err         error // of a write
}

// The states of a FastConn. One that is closed while it answers is closed behind the responses.
const (
	waiting int32 = iota
	answering
	ending
	closed
)

// RemoteAddr returns the address of the client.
func (f *FastConn) RemoteAddr() net.Addr { return f.conn.RemoteAddr() }

// LocalAddr returns the address that the client has connected to.
func (f *FastConn) LocalAddr() net.Addr { return f.conn.LocalAddr() }

// IsSecure reports whether the requests come by TLS.
func (f *FastConn) IsSecure() bool {
	_, ok := f.conn.Conn.(*secureConn)
	return ok
}

// Write writes octets of responses, all of them or until an error, behind which nothing can be written. A client
// must read within the write deadline.
func (f *FastConn) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if f.io == nil {
		f.io = newFastIO(f.conn.Conn)
	}
	n := f.io.try(p)
	if n == len(p) {
		return n, nil
	}
	left, err := f.conn.Conn.Write(p[n:])
	f.err = err
	return n + left, err
}

// WriteBuffers is Write of several buffers as one, which it consumes.
func (f *FastConn) WriteBuffers(buffers net.Buffers) (written int64, err error) {
	if f.err != nil {
		return 0, f.err
	}
	if client, ok := f.conn.Conn.(*clientConn); ok {
		written, f.err = client.WriteBuffers(buffers)
		return written, f.err
	}
	written, f.err = buffers.WriteTo(f.conn.Conn)
	return written, f.err
}

// ReadFrom is Write of what r has: a file is sent without copying it.
func (f *FastConn) ReadFrom(r io.Reader) (int64, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := io.Copy(f.conn.Conn, r)
	f.err = err
	return n, err
}

// Err returns the error of a write that has failed, nil for none.
func (f *FastConn) Err() error { return f.err }

// Abort ends the connection in the middle of a response.
func (f *FastConn) Abort() {
	f.err = io.ErrClosedPipe
	_ = f.conn.Conn.SetWriteDeadline(time.Unix(1, 0))
}

// idle is called when net/http waits for the next request.
func (f *FastConn) idle() { f.between, f.isNew = true, false }

// isOut reports whether a read into p is none at which the fast path may look.
func (f *FastConn) isOut(p []byte) bool {
	if f.size == 0 {
		f.size = len(p)
	}
	if !f.between || len(p) < f.size || f.conn.server.isEnding(f.tracked) {
		f.between = false
		return true
	}
	return false
}

// read reads into p what is for net/http. It answers what comes before that.
func (f *FastConn) read(p []byte) (n int, err error) {
	for answered := 0; ; answered++ {
		if answered >= confirmed && f.io.canRead() {
			f.await(watched)
			if n, err = f.io.read(f, p); !isTimeout(err) {
				break
			}
		}
		if answered > 0 {
			f.await(f.conn.server.config.IdleTimeout)
		}
		if n, err = f.conn.Conn.Read(p); n == 0 || err != nil {
			break
		}
		if n = f.answer(p, n); n > 0 || f.err != nil {
			break
		}
	}
	f.leave()
	if f.state.Load() == ending {
		_ = f.conn.Conn.Close()
		f.state.Store(closed)
		f.tracked.signal()
		return 0, net.ErrClosed
	}
	if f.err != nil {
		return 0, f.err
	}
	return n, err
}

// confirmed is the number of times that a connection is read from once more than necessary, after which it is read from
// only when something has come: see fastIO.read.
const confirmed = 2

// answer answers the requests that the first n octets of p begin with. What is left of them it moves to the beginning of p,
// and returns how many octets that is.
func (f *FastConn) answer(p []byte, n int) (left int) {
	if f.conn.server.isEnding(f.tracked) {
		return n
	}
	if !f.state.CompareAndSwap(waiting, answering) {
		f.err = net.ErrClosed
		return 0
	}
	used := f.path.AnswerFast(f, p[:n])
	if used > 0 {
		f.hasAnswered = true
		if !f.conn.used.Load() {
			f.conn.used.Store(true)
			f.unseen.Store(true)
			f.tracked.begin(f.conn, true)
			f.tracked.end()
		}
	}
	if !f.state.CompareAndSwap(answering, waiting) && f.err == nil {
		f.err = net.ErrClosed
	}
	return copy(p, p[used:n])
}

// watched is how long a client may send nothing before it is looked at whether it has left.
const watched = 2 * time.Second

// await gives the client so long for its next request.
func (f *FastConn) await(wait time.Duration) {
	now := f.conn.server.config.Now()
	_ = f.conn.SetReadDeadline(now.Add(min(wait, f.conn.server.config.IdleTimeout))) // a connection that is closed fails to be read, too
}

// leave lets net/http go on, with the deadline that it has set itself: where the connection is new, that of a head.
func (f *FastConn) leave() {
	f.between = false
	f.unseen.Store(false)
	if f.hasAnswered {
		wait := f.conn.server.config.IdleTimeout
		if f.isNew {
			wait = f.conn.server.config.HeaderTimeout
		}
		_ = f.conn.SetReadDeadline(f.conn.server.config.Now().Add(wait))
	}
	f.hasAnswered = false
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// close closes the connection, behind responses that are being written; a second call does not wait for them.
func (f *FastConn) close() error {
	if f.state.CompareAndSwap(answering, ending) {
		return nil
	}
	f.state.Store(closed)
	return f.conn.Conn.Close()
}

// isAnswering reports whether a response is being written.
func (f *FastConn) isAnswering() bool {
	state := f.state.Load()
	return state == answering || state == ending
}

// isUnseen reports whether requests of the connection were answered, none of which net/http has seen: it would wait
// for the first one when it ends.
func (f *FastConn) isUnseen() bool { return f.unseen.Load() }
