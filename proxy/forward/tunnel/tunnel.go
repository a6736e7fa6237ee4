// Package tunnel carries the bytes of tunnels and of upgraded connections both ways: between sockets in the kernel, and else by
// copying, until both sides have ended or nothing was carried for too long.
package tunnel

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Tunnels are all tunnels of a proxy, which share their buffers. They are safe for concurrent use, and must be made by New.
type Tunnels struct {
	idle    time.Duration
	now     func() time.Time
	buffers buffers
	pipes   pipes
}

// New returns Tunnels that end when they have carried nothing for so long.
func New(idle time.Duration, now func() time.Time) *Tunnels { return &Tunnels{idle: idle, now: now} }

// Carry carries bytes between a client, who has sent early before, and a server, until both sides have ended, one fails, nothing is
// carried for too long, or ctx ends. It closes both, and returns how many bytes it has carried to the client. Nothing of the client
// gets to the server before look has allowed it; nil allows all.
func (t *Tunnels) Carry(ctx context.Context, client net.Conn, early []byte, server io.ReadWriteCloser, look Look) (carried int64) {
	_ = client.SetDeadline(time.Time{}) // that of a request
	from := sideOf(client)
	from.early, from.look = early, look
	return t.tunnel(ctx, from, sideOf(server))
}

// side is one side of a tunnel. close ends what reads from it.
type side struct {
	io.Reader
	io.Writer
	early      []byte       // what it has sent before the tunnel
	look       Look         // decides by what it sends first; nil for nothing
	closeWrite func() error // tells the other end that nothing more comes
	close      func()
}

// sideOf returns the side of a connection.
func sideOf(conn io.ReadWriteCloser) side {
	return side{
		Reader: conn, Writer: conn,
		closeWrite: func() error { return closeWrite(conn) }, close: sync.OnceFunc(func() { _ = conn.Close() }),
	}
}

// closeWrite half-closes a connection; one that has no halves is closed.
func closeWrite(conn io.Closer) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}

// tunnel is Carry between two sides, and returns what was carried from b to a.
func (t *Tunnels) tunnel(ctx context.Context, a, b side) (carried int64) {
	ctx, end := context.WithCancel(ctx)
	active := &activity{idle: t.idle, now: t.now, buffers: &t.buffers, pipes: &t.pipes}
	active.note()
	var all sync.WaitGroup
	defer all.Wait()
	defer end()
	all.Go(func() {
		active.await(ctx)
		a.close()
		b.close()
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := active.carry(ctx, b, a); err != nil {
			end()
		}
	}()
	carried, err := active.carry(ctx, a, b)
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
	// buffers are those of all tunnels.
	buffers *buffers
	pipes   *pipes
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

// waitingSize is the buffer of a direction of a tunnel that waits: many tunnels carry nothing most of the time.
const waitingSize = 1 << 10

// buffers are those of directions that carry much, until they have to wait. It is safe for concurrent use.
type buffers struct{ pool sync.Pool }

const bufferSize = 64 << 10

func (b *buffers) take() *[bufferSize]byte {
	if buffer, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return buffer
	}
	return new([bufferSize]byte)
}

// carry carries bytes from one side to the other until that ends, and returns how many.
func (t *activity) carry(ctx context.Context, to, from side) (carried int64, err error) {
	if from.look != nil {
		if err := t.look(ctx, &from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
	}
	if len(from.early) > 0 {
		n, err := to.Write(from.early)
		if err != nil {
			return 0, err
		}
		carried = int64(n)
	}
	moving := direction{t: t, to: to, from: from}
	for err == nil {
		var n int64
		n, err = moving.pass()
		carried += n
	}
	if errors.Is(err, io.EOF) {
		_ = to.closeWrite() // the other side sees it, or has gone
		return carried, nil
	}
	return carried, err
}

// direction is one of the two of a tunnel.
type direction struct {
	t        *activity
	to, from side
	splicing *splicing // nil before there was one
}

// pass carries what comes next: it is moved from socket to socket, or else copied.
func (d *direction) pass() (n int64, err error) {
	if d.splicing == nil {
		d.splicing = d.between()
	}
	if d.splicing != nil {
		if n, err = d.splicing.pass(); !errors.Is(err, errCopy) {
			return n, err
		}
	}
	return d.copy()
}

// between returns the splicing between the two sockets, nil where there are none, or something was read that does not come from one.
func (d *direction) between() *splicing {
	from := sourceOf(d.from.Reader)
	if from == nil {
		return nil
	}
	if to, ok := sinkOf(d.to.Writer); ok {
		return newSplicing(d.t, to, from)
	}
	return nil
}

// copy copies what comes next. Where a read has filled its buffer, more has probably come already.
func (d *direction) copy() (copied int64, err error) {
	var waiting [waitingSize]byte
	n, err := d.t.pass(d.to, d.from, waiting[:])
	copied = int64(n)
	for filled := waitingSize; n == filled && err == nil; filled = bufferSize {
		buffer := d.t.buffers.take()
		n, err = d.t.pass(d.to, d.from, buffer[:])
		d.t.buffers.pool.Put(buffer)
		copied += int64(n)
	}
	return copied, err
}

// pass carries what one read returns, and returns how many bytes were written.
func (t *activity) pass(to, from side, buffer []byte) (n int, err error) {
	n, err = from.Read(buffer)
	if n > 0 {
		t.note()
		if _, err := to.Write(buffer[:n]); err != nil {
			return 0, err
		}
	}
	return n, err
}
