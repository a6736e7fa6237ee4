package http

import (
	"errors"
	"fmt"
)

// errStale means that the server has closed an idle connection, or sent unsolicited bytes on it. No byte of the
// request was sent on it.
var errStale = errors.New("server closed an idle connection")

// incoming reads from a connection; the first read sends the request head in conn.unsent.
type incoming struct{ *conn }

// Read implements io.Reader.
func (i incoming) Read(p []byte) (int, error) {
	c := i.conn
	request := c.unsent
	if len(request) == 0 {
		return c.Read(p)
	}
	c.unsent = nil
	written, n, err := c.raw.exchange(request, p)
	if err != nil || n > 0 {
		return n, err
	}
	if _, err := c.Write(request[written:]); err != nil {
		return 0, fmt.Errorf("sending the request: %w", err)
	}
	c.awaitHead()
	return c.Read(p)
}

// canExchangeRaw reports whether sending a request is left to the first read of its response. On a new connection that
// would miss unsolicited bytes, which may have arrived already.
func (c *conn) canExchangeRaw(r *request) bool { return c.raw != nil && c.used && !r.hasBody() }

// canCarry reports whether an idle connection seems usable for a request. Sending may still fail with errStale.
func (c *conn) canCarry(r *request) bool {
	if c.canExchangeRaw(r) {
		return c.in.Buffered() == 0
	}
	return c.Alive()
}
