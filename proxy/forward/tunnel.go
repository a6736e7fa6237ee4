package forward

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// side is one side of a tunnel. close ends what reads from it.
type side struct {
	io.Reader
	io.Writer
	closeWrite func() error // tells the other end that nothing more comes
	close      func()
}

// sideOf returns the side of a connection, which is read through reader.
func sideOf(conn io.ReadWriteCloser, reader io.Reader) side {
	return side{
		Reader: reader, Writer: conn,
		closeWrite: func() error { return closeWrite(conn) }, close: sync.OnceFunc(func() { _ = conn.Close() }),
	}
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
	ctx, end := context.WithCancel(ctx)
	t := &activity{idle: idle, now: now}
	t.note()
	var all sync.WaitGroup
	defer all.Wait()
	defer end()
	all.Go(func() {
		t.await(ctx)
		a.close()
		b.close()
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := t.carry(b, a); err != nil {
			end()
		}
	}()
	carried, err := t.carry(a, b)
	if err != nil {
		end()
	}
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

// await returns when nothing was carried for too long, or when ctx ends. A deadline of each read
// would not do: one that has passed ends a stream of HTTP/2, although the other direction is in use.
func (t *activity) await(ctx context.Context) {
	timer := time.NewTimer(t.idle)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			left := t.idle - t.now().Sub(*t.last.Load())
			if left <= 0 {
				return
			}
			timer.Reset(left)
		}
	}
}

// carry carries octets from one side to the other until that ends, and returns how many.
func (t *activity) carry(to, from side) (carried int64, err error) {
	const size = 64 << 10
	buffer := make([]byte, size)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			t.note()
			if _, err := to.Write(buffer[:n]); err != nil {
				return carried, err //nolint:wrapcheck // it only ends the tunnel
			}
			carried += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF):
			_ = to.closeWrite() // the other side sees it, or has gone
			return carried, nil
		case err != nil:
			return carried, err //nolint:wrapcheck // likewise
		}
	}
}
