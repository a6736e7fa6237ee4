package listen

import (
	"io"
	"net/http"
)

// Attach returns what a handler keeps with the connection of a request by HTTP/1.1. newOne makes it for the first
// request that asks; it is closed when the connection ends or is taken over (Hijack). It is nil by HTTP/2, and for a
// request that came by no Server. Only the goroutine of a handler may call it.
func Attach(r *http.Request, newOne func() io.Closer) io.Closer {
	conn, ok := r.Context().Value(connKey{}).(*requestConn)
	if !ok || r.ProtoMajor != 1 {
		return nil
	}
	return conn.attach(newOne)
}

func (c *requestConn) attach(newOne func() io.Closer) io.Closer {
	if c.attached == nil {
		c.attached = newOne()
	}
	return c.attached
}

// Attached returns what a handler keeps with the connection, nil for nothing.
func (f *FastConn) Attached() io.Closer { return f.conn.attached }

// detach closes what a handler keeps with the connection.
func (c *requestConn) detach() {
	if c.attached != nil {
		_ = c.attached.Close()
	}
}
