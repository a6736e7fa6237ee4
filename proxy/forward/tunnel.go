package forward

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// side is one side of a tunnel.
type side struct {
	io.Reader
	io.Writer
	// deadline sets the time by which a read must end, and closeWrite tells the other end that
	// nothing more comes.
	deadline   func(time.Time) error
	closeWrite func() error
	close      func()
}

// sideOf returns the side of a connection, which is read through reader.
func sideOf(conn io.ReadWriteCloser, reader io.Reader) side {
	s := side{
		Reader: reader, Writer: conn, deadline: func(time.Time) error { return nil },
		closeWrite: func() error { return closeWrite(conn) }, close: func() { _ = conn.Close() },
	}
	if timed, ok := conn.(interface{ SetReadDeadline(time.Time) error }); ok {
		s.deadline = timed.SetReadDeadline
	}
	return s
}

// closeWrite half-closes a connection; one that has no halves is closed.
func closeWrite(conn io.Closer) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite() //nolint:wrapcheck // the connection is closed soon
	}
	return conn.Close() //nolint:wrapcheck // likewise
}

// tunnel carries octets both ways, until both sides have ended, one fails, nothing is carried for
// idle, or ctx ends. It closes both sides, and returns what was carried from b to a.
func tunnel(ctx context.Context, a, b side, idle time.Duration, now func() time.Time) (carried int64) {
	defer a.close()
	defer b.close()
	stop := context.AfterFunc(ctx, func() { a.close(); b.close() })
	defer stop()
	t := &activity{idle: idle, now: now}
	t.note()
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.carry(b, a)
	}()
	carried = t.carry(a, b)
	<-done
	return carried
}

// activity is when a tunnel has carried something.
type activity struct {
	idle time.Duration
	now  func() time.Time
	last atomic.Pointer[time.Time]
}

func (t *activity) note() {
	now := t.now()
	t.last.Store(&now)
}

// carry carries octets from one side to the other, until that ends, and returns how many. A failure
// closes both sides, so that the other direction ends, too.
func (t *activity) carry(to, from side) (carried int64) {
	buffer := make([]byte, 64<<10)
	for {
		_ = from.deadline(t.last.Load().Add(t.idle)) // a connection that is closed fails to be read, too
		n, err := from.Read(buffer)
		if n > 0 {
			t.note()
			if _, err := to.Write(buffer[:n]); err != nil {
				break
			}
			carried += int64(n)
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			_ = to.closeWrite() // the other side sees it, or has gone
			return carried
		case errors.Is(err, os.ErrDeadlineExceeded) && t.now().Sub(*t.last.Load()) < t.idle:
			continue // the other direction is in use
		}
		break
	}
	to.close()
	from.close()
	return carried
}
