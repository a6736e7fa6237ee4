package http2

import (
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// tunnel is the stream of a CONNECT as a connection: RFC 9113 section 8.5, RFC 8441 section 5.
type tunnel struct {
	*requestBody
	s       *stream
	writing sync.Mutex
	closing sync.Once
}

// Write implements net.Conn. What is written is sent.
func (t *tunnel) Write(p []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	n, err := t.s.Write(p)
	if err == nil {
		err = t.s.Flush()
	}
	return n, err
}

// CloseWrite ends what is sent, as FIN does.
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

// Close implements net.Conn. Where one side has not ended, the client gets what a reset is by TCP.
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

// SetWriteDeadline implements net.Conn: the server bounds writes itself.
func (*tunnel) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
