package http

import (
	"errors"
	"fmt"
)

// errStale means that the server has closed an idle connection, or sent what nobody asked for. Nothing was sent by it.
var errStale = errors.New("the server has ended an idle connection")

// incoming reads from a connection, and sends the request before where that is left to it.
type incoming struct{ *conn }

// Read implements io.Reader.
func (i incoming) Read(p []byte) (int, error) {
	c := i.conn
	request := c.unsent
	if len(request) == 0 {
		return c.Read(p)
	}
	c.unsent = nil
	written, n, err := c.talk.exchange(request, p)
	if err != nil || n > 0 {
		return n, err
	}
	if _, err := c.Write(request[written:]); err != nil {
		return 0, fmt.Errorf("sending the request: %w", err)
	}
	c.awaitHead()
	return c.Read(p)
}

// talks reports whether a request is sent where its response is read. What a server has sent on a new connection would be missed
// so: it may have come before.
func (c *conn) talks(r *request) bool { return c.talk != nil && c.used && !r.hasBody() }

// canCarry reports whether an idle connection can be used for a request, which may turn out only when it is sent.
func (c *conn) canCarry(r *request) bool {
	if c.talks(r) {
		return c.in.Buffered() == 0
	}
	return c.Alive()
}
