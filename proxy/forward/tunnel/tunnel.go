// Package tunnel carries the bytes of tunnels and of upgraded connections in both directions, until both
// sides have ended or nothing was carried for too long. Two connections enter, with the data already
// received; the number of bytes sent to the client leaves. On Linux, data moves between sockets in the
// kernel, else it is copied. It serves CONNECT (RFC 9110 section 9.3.6) and Upgrade (section 7.8), and
// inspects a ClientHello (RFC 8446 section 4.1.2) on demand.
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

// Tunnels are the tunnels of a proxy, which share buffers. They are safe for concurrent use, and must be made by New.
type Tunnels struct {
	idle    time.Duration
	now     func() time.Time
	buffers buffers
	pipes   pipes
}

// New returns Tunnels with an idle timeout.
func New(idle time.Duration, now func() time.Time) *Tunnels { return &Tunnels{idle: idle, now: now} }

// Relay carries bytes between a client, which has already sent early, and a server, until both sides have
// ended, one fails, the idle timeout passes, or ctx ends. It closes both, and returns the number of bytes
// sent to the client. The server gets no data of the client before look has allowed it; nil allows all.
func (t *Tunnels) Relay(
	ctx context.Context, client net.Conn, early []byte, server io.ReadWriteCloser, look Check,
) (carried int64) {
	_ = client.SetDeadline(time.Time{}) // the deadline was that of a request
	from := sideOf(client)
	from.early, from.check = early, look
	return t.tunnel(ctx, from, sideOf(server))
}

// side is one side of a tunnel. close interrupts reads.
type side struct {
	io.Reader
	io.Writer
	early      []byte       // data received before the tunnel was opened
	check      Check        // decides by the first bytes; nil allows all
	closeWrite func() error // tells the other end that no more data follows
	close      func()
}

// sideOf returns the side of a connection.
func sideOf(conn io.ReadWriteCloser) side {
	return side{
		Reader: conn, Writer: conn,
		closeWrite: func() error { return closeWrite(conn) }, close: sync.OnceFunc(func() { _ = conn.Close() }),
	}
}

// closeWrite half-closes a connection, or closes it if it does not support that.
func closeWrite(conn io.Closer) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}

// tunnel is Relay between two sides, and returns the number of bytes carried from b to a.
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
		if _, err := active.relay(ctx, b, a); err != nil {
			end()
		}
	}()
	carried, err := active.relay(ctx, a, b)
	if err != nil {
		end()
	}
	<-done
	return carried
}

// activity records when a tunnel has carried data.
type activity struct {
	idle time.Duration
	now  func() time.Time
	last atomic.Pointer[time.Time]
	// buffers and pipes are shared by all tunnels.
	buffers *buffers
	pipes   *pipes
}

func (t *activity) note() {
	now := t.now()
	t.last.Store(&now)
}

// await returns when the idle timeout has passed, or when ctx ends. A deadline of each read would not do:
// when it passes, it ends an HTTP/2 stream even if the other direction is in use.
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

// waitingSize is the buffer size of a direction that waits for data: many tunnels are idle most of the time.
const waitingSize = 1 << 10

// buffers are a pool of large buffers for directions with much data, until they have to wait. It is safe for
// concurrent use.
type buffers struct{ pool sync.Pool }

const bufferSize = 64 << 10

func (b *buffers) take() *[bufferSize]byte {
	if buffer, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return buffer
	}
	return new([bufferSize]byte)
}

// relay carries bytes from one side to the other until the end, and returns their number.
func (t *activity) relay(ctx context.Context, to, from side) (carried int64, err error) {
	if from.check != nil {
		if err := t.checkHello(ctx, &from); err != nil && !errors.Is(err, io.EOF) {
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
		_ = to.closeWrite() // the other side has seen the end, or has disconnected
		return carried, nil
	}
	return carried, err
}

// direction is one direction of a tunnel.
type direction struct {
	t        *activity
	to, from side
	splicing *splicing // nil before the first use
}

// pass carries the next data: it is moved between sockets, or else copied.
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

// between returns the splicing of the two sockets, nil if there are none, or if buffered data has to be read first.
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

// copy copies the next data. If a read has filled its buffer, more data is probably available.
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

// pass carries the data of one read, and returns the number of bytes written.
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
