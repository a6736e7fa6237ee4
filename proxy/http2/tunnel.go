package http2

import (
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// tunnel is the stream of a CONNECT as a net.Conn: RFC 9113 section 8.5, RFC 8441 section 5.
type tunnel struct {
	*requestBody
	s       *stream
	writing sync.Mutex
	closing sync.Once
}

// Write implements net.Conn. It flushes.
func (t *tunnel) Write(p []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	n, err := t.s.Write(p)
	if err == nil {
		err = t.s.Flush()
	}
	return n, err
}

// CloseWrite ends the sending side, like a FIN.
func (t *tunnel) CloseWrite() error {
	t.writing.Lock()
	defer t.writing.Unlock()
	c := t.s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.s.err != nil || t.s.sentEnd {
		return t.s.err
	}
	c.appendData(t.s, nil, true)
	c.flush()
	return nil
}

// Close implements net.Conn. If one side has not ended, it resets the stream, like a TCP reset.
func (t *tunnel) Close() error {
	t.closing.Do(func() {
		c := t.s.c
		c.mu.Lock()
		code := http2.ErrCodeConnect
		if t.s.incoming.Protocol != "" {
			code = http2.ErrCodeCancel
		}
		t.s.reset(code)
		c.flush()
		t.s.closed = true
		answered := t.s.answered
		c.mu.Unlock()
		if answered {
			t.s.handled()
		}
	})
	return nil
}

// LocalAddr implements net.Conn.
func (t *tunnel) LocalAddr() net.Addr { return t.s.c.LocalAddr() }

// RemoteAddr implements net.Conn.
func (t *tunnel) RemoteAddr() net.Addr { return t.s.c.RemoteAddr() }

// SetDeadline implements net.Conn.
func (t *tunnel) SetDeadline(at time.Time) error { return t.SetReadDeadline(at) }

// SetReadDeadline implements net.Conn.
func (t *tunnel) SetReadDeadline(at time.Time) error { return t.s.SetReadDeadline(at) }

// SetWriteDeadline implements net.Conn: not supported, as the server limits writes itself.
func (*tunnel) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
