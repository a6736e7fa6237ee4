package nntp

import (
	"context"
	"net/netip"
	"time"
)

// livenessTimeout is how long a connection that has waited may take for its first reply.
const livenessTimeout = 2 * time.Second

// waiting returns a connection that waited, is logged in as s says, and still works; nil where there is none.
func (h *Handler) waiting(ctx context.Context, check func(netip.AddrPort) error, s server) *client {
	isSame := func(c *client) bool { return c.server.Server == s.Server && c.server.login == s.login }
	c, ok := h.pool.Take(s.Address, func(c *client) bool { return isSame(c) && (check == nil || check(c.from) == nil) })
	if !ok {
		return nil
	}
	if c.isAlive(ctx) {
		c.begin(ctx)
		return c
	}
	c.close()
	if ctx.Err() == nil { // the client has not left: the server has ended the others, too
		h.pool.Drop(isSame)
	}
	return nil
}

// isAlive reports whether the server answers with one reply to one command: RFC 3977 section 7.1 has DATE for all
// readers, older servers do not know it. One reply too many, to a request before, would be taken for that to the next one.
func (c *client) isAlive(ctx context.Context) bool {
	soon, cancel := context.WithTimeout(ctx, livenessTimeout)
	defer cancel()
	c.begin(soon)
	r, err := c.command("DATE")
	return c.forget() && err == nil && (r.code == codeDate || r.code == codeUnknown) && c.isBetween()
}

// isBetween reports whether all of the last response was read, and nothing else has come. The group that is selected, the
// only other state of a session, does not matter: who asks by number selects it anew.
func (c *client) isBetween() bool {
	return !c.isOver && (c.block == nil || c.block.Ended()) && c.reader.Buffered() == 0
}

// giveBack lets a connection wait, where it can be used again, and else closes it.
func (h *Handler) giveBack(c *client) {
	if c.block != nil {
		c.block.Skip()
	}
	if isOurs := c.forget(); isOurs && c.isBetween() {
		h.pool.Put(c)
		return
	}
	c.close()
}

// dropServer closes the connections to a server that wait, since it may count them, and returns how many these were.
func (h *Handler) dropServer(s server) int {
	return h.pool.Drop(func(c *client) bool { return c.server.Address == s.Address })
}

// Server implements scheme.PooledConn.
func (c *client) Server() string { return c.server.Address }

// Close ends the session. It waits neither for the reply, nor for who does not read.
func (c *client) Close() {
	_ = c.wait()
	_, _ = c.conn.Write([]byte("QUIT\r\n")) // the connection ends in any case
	c.close()
}
