package listen

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// FastPath answers plain requests before net/http reads them. It is invisible: a response is the one that the handler would
// have sent.
type FastPath interface {
	// AnswerFast answers the requests that octets begin with from caches, as many as it can, by writing to c, and returns how
	// many octets they were: 0 where the first one needs more. It waits for nobody but the client. The octets are valid until
	// it returns.
	AnswerFast(c *FastConn, octets []byte) (used int)
	// ServePlain serves the request that octets begin with, which AnswerFast has left last, as the handler does, and returns how
	// many octets it was: 0 where it is for the handler. It may wait for others. The octets are valid until it returns.
	ServePlain(c *FastConn, octets []byte) (used int)
}

// FastConn is a connection whose requests a FastPath may answer. Its goroutine alone uses it.
//
// The fast path looks at what comes only where net/http waits for a request with nothing in its buffer: it reads
// for the first time since the connection is new or idle, into all of its buffer. What the fast path does not answer
// goes to net/http unchanged, and it stays out until the connection is idle again. net/http may have octets of the
// next request already. They take room in its buffer, or it reads none before it has used all of them; it has set a
// second deadline then, that of the head.
type FastConn struct {
	// State is of the FastPath, which can make it again: while the connection is idle it is dropped, and closed if it is an io.Closer.
	State any

	into    *gathered // the response, which is sent by HTTP/2; nil by HTTP/1.1
	conn    *requestConn
	path    FastPath
	tracked *connections
	io      *fastIO // nil before the first write since the connection was idle

	between  bool        // no octet of a request has gone to net/http
	isNew    bool        // net/http has seen no request: it waits with the header timeout
	isRest   bool        // what was read last begins behind requests that were answered
	isAfter  bool        // what was read last came with such requests: without the fast path net/http would have it in its buffer
	err      error       // of a write
	isParked atomic.Bool // nothing was read since it was idle: see park.go
	isInUse  bool        // something was read since it was waited for
	wait     parkWait
	// hasAnswered is whether something was answered since net/http has waited.
	hasAnswered bool
	body        *fastBody  // of the request that is served, nil for none
	empty       emptyLines // behind a request that is served
	isAwaited   bool       // only those have come, and the client has the time that it had
	idleBy      time.Time  // when that is over

	state  atomic.Int32 // waiting, answering, ending or closed
	served served
	// isHanded is whether net/http has the connection.
	isHanded atomic.Bool
	// unseen is whether requests were answered, and no handler has begun: net/http takes the connection for a new one, and
	// would wait for a request when it ends. Who takes it may close the connection, or let the handler go on.
	unseen atomic.Bool
}

// readSize is the size of the buffer by which net/http reads. With another one, the fast path would answer nothing.
const readSize = 4 << 10

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
	if f.into != nil {
		f.into.octets = append(f.into.octets, p...)
		return len(p), nil
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
	if f.into != nil {
		return buffers.WriteTo(onlyWriter{f})
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
	if f.into != nil {
		return io.Copy(onlyWriter{f}, r)
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
	_ = f.conn.SetWriteDeadline(time.Unix(1, 0))
}

// idle is called when net/http waits for the next request. Behind a POST it ignores empty lines before that, and
// must see it.
func (f *FastConn) idle(isPosted bool) {
	f.between, f.isNew = !isPosted, false
	f.isRest, f.isAfter = false, false
}

// isOut reports whether a read into p is none at which the fast path may look.
func (f *FastConn) isOut(p []byte) bool {
	f.isRest, f.isAfter = false, false
	if f.isParked.CompareAndSwap(true, false) { // what it waits for has not begun
		f.wait.woken(f.conn.server.config.Now())
		return false
	}
	if f.between && (len(p) != readSize || f.conn.deadlines.Load() > 1 || f.IsEnding()) {
		f.between = false
	}
	return !f.between
}

// read reads into p what is for net/http. It answers and serves what comes before that.
func (f *FastConn) read(p []byte) (n int, err error) {
	for round := 0; ; round++ {
		n, err = f.readOnce(p, round)
		if n > 0 && err == nil {
			n = f.serve(p, n)
		}
		if errors.Is(err, errIdle) {
			if state, ok := f.State.(io.Closer); ok {
				_ = state.Close() // it fails where it is closed
			}
			f.State, f.io = nil, nil
			f.wait.since = f.conn.server.config.Now()
			f.isParked.Store(true)
			return 0, err
		}
		if n > 0 || err != nil || f.err != nil {
			return f.leave(p, n, err)
		}
	}
}

// confirmed is the number of times that a connection is read from once more than necessary, after which it is read from
// only when something has come: see fastIO.read.
const confirmed = 2

// readOnce reads into p, answers what it can, and returns what is left. Where the connection is idle and can be parked, it returns
// errIdle.
func (f *FastConn) readOnce(p []byte, round int) (n int, err error) {
	if round == 0 {
		return f.readNow(p)
	}
	isConfirmed := round >= confirmed && f.io.canRead()
	now, by := f.idleBound()
	if f.canPark() {
		f.await(now.Add(f.wait.next(by.Sub(now))))
		f.isInUse = false
		if isConfirmed {
			n, err = f.io.read(f, p)
		} else {
			n, err = f.readNow(p)
		}
		switch {
		case !isTimeout(err):
			return n, err
		case f.isInUse:
			f.wait.lengthen()
			return 0, nil
		}
		f.await(by)
		return 0, errIdle
	}
	if isConfirmed {
		f.await(earlier(now.Add(watched), by))
		if n, err = f.io.read(f, p); !isTimeout(err) {
			return n, err
		}
	}
	f.await(by)
	return f.readNow(p)
}

// readNow reads into p by the deadline that is set, answers what it can, and returns what is left.
func (f *FastConn) readNow(p []byte) (n int, err error) {
	f.isRest, f.isAfter = false, false
	switch n, err = f.conn.Conn.Read(p); {
	case err != nil:
		return n, err
	case n == 0:
		return 0, io.ErrNoProgress
	default:
		return f.received(p, n), nil
	}
}

// received answers the requests that the first n octets of p begin with, which were just read: see answer.
func (f *FastConn) received(p []byte, n int) (left int) {
	f.isRest, f.isAfter, f.isInUse = false, false, true
	left = f.empty.skip(p, n)
	f.isAwaited = left == 0
	return f.answer(p, left)
}

// serve serves the requests that the first n octets of p begin with, and answers those behind them: see answer.
func (f *FastConn) serve(p []byte, n int) (left int) {
	for n > 0 && f.err == nil {
		before := n
		if n = f.take(p, n, f.path.ServePlain); n == before {
			break
		}
		if n > 0 && f.err == nil {
			n = f.answer(p, n)
		}
	}
	return n
}

// answer answers the requests that the first n octets of p begin with. What is left of them it moves to the beginning of p,
// and returns how many octets that is.
func (f *FastConn) answer(p []byte, n int) (left int) { return f.take(p, n, f.path.AnswerFast) }

// take lets the fast path have the first n octets of p.
func (f *FastConn) take(p []byte, n int, use func(*FastConn, []byte) int) (left int) {
	if n == 0 || f.IsEnding() || f.conn.choseHTTP2() {
		return n
	}
	if !f.conn.counted().begin() || !f.state.CompareAndSwap(waiting, answering) {
		f.err = net.ErrClosed
		return 0
	}
	used := use(f, p[:n])
	if used > 0 {
		f.hasAnswered, f.isRest, f.isAfter = true, true, true
		if f.isFirst() {
			f.tracked.begin(f.conn, true)
			f.tracked.end()
		}
	}
	if !f.state.CompareAndSwap(answering, waiting) && f.err == nil {
		f.err = net.ErrClosed // leave closes it: fastIO.read holds it
	}
	if left = f.empty.skip(p, copy(p, p[used:n])); left == 0 {
		f.conn.counted().rest()
	}
	return left
}

// isFirst notes that a request of the connection is answered, and reports whether it is the first one.
func (f *FastConn) isFirst() bool {
	if f.conn.used.Swap(true) {
		return false
	}
	f.unseen.Store(true)
	return true
}

// watched is how long a client may send nothing before it is looked at whether it has left.
const watched = 2 * time.Second

// leave lets net/http go on with n octets in p. Where the connection is idle, net/http waits for peeked octets,
// ends silently where they do not come, and sets the deadline of a head then. Where it is new, it does so only if no
// request was answered. Where the connection was closed, io.EOF ends it: net/http does not answer to that.
func (f *FastConn) leave(p []byte, n int, err error) (int, error) {
	isSilent := f.hasAnswered && f.isNew
	f.between, f.hasAnswered = false, false
	if f.state.Load() == ending {
		_ = f.cut()
		f.tracked.signal()
	}
	if f.err != nil {
		return 0, io.EOF
	}
	if !isSilent {
		return n, err
	}
	if n > 0 && n < peeked {
		f.conn.boundHead()
	}
	for err == nil && n < peeked {
		var more int
		f.isRest = false // the request line is seen from its beginning
		more, err = f.conn.Conn.Read(p[n:])
		n += more
	}
	if n < peeked || !f.unseen.Load() {
		return 0, io.EOF
	}
	if string(p[:peeked]) == preface[:peeked] && f.IsSecure() && !f.conn.choseHTTP2() {
		p[0] = 'p' // net/http would take it for the beginning of HTTP/2, which it is not behind a request, nor without ALPN
	}
	_ = f.conn.Conn.SetReadDeadline(f.conn.server.config.Now().Add(f.conn.server.config.HeaderTimeout))
	return n, err
}

// isOnLoop reports whether a response is being written to a connection that net/http has never had.
func (f *FastConn) isOnLoop() bool { return !f.isHanded.Load() && f.isAnswering() }

// isServed reports whether requests of the connection were answered.
func (f *FastConn) isServed() bool { return f.conn.used.Load() }

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// peeked is the number of octets of a request for which net/http waits while a connection is idle.
const peeked = 4

// close closes the connection, behind responses that are being written.
func (f *FastConn) close() error {
	for {
		switch f.state.Load() {
		case waiting:
			if f.state.CompareAndSwap(waiting, closed) {
				return f.conn.Conn.Close()
			}
		case answering:
			if f.state.CompareAndSwap(answering, ending) {
				return nil
			}
		default:
			return nil
		}
	}
}

// cut closes the connection, unless it is closed already, and ends what is served on it.
func (f *FastConn) cut() error {
	f.served.end()
	if f.state.Swap(closed) == closed {
		return nil
	}
	return f.conn.Conn.Close()
}

// isAnswering reports whether a response is being written.
func (f *FastConn) isAnswering() bool {
	state := f.state.Load()
	return state == answering || state == ending
}
