package nntp

import (
	"context"
	"net/netip"
	"time"
)

// livenessTimeout is the timeout for the first reply on an idle connection when it is reused.
const livenessTimeout = 2 * time.Second

// waiting returns an idle connection with the login of s that still works; nil if there is none.
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
	if ctx.Err() == nil { // the request was not canceled, so the server has closed the other connections, too
		h.pool.Drop(isSame)
	}
	return nil
}

// isAlive reports whether the server sends exactly one reply to a command. RFC 3977 section 7.1 requires DATE
// of all readers; older servers do not know it. A surplus reply to an earlier request would be taken for the
// reply to the next one.
func (c *client) isAlive(ctx context.Context) bool {
	soon, cancel := context.WithTimeout(ctx, livenessTimeout)
	defer cancel()
	c.begin(soon)
	r, err := c.command("DATE")
	return c.forget() && err == nil && (r.code == codeDate || r.code == codeUnknown) && c.idle()
}

// idle reports whether the connection is idle: the last response was read completely, and nothing else has
// arrived. The selected group, the only other state of a session, does not matter, because requests by number
// select it again.
func (c *client) idle() bool {
	return !c.closing && (c.block == nil || c.block.Ended()) && c.reader.Buffered() == 0
}

// giveBack puts a connection into the pool if it is reusable, and otherwise closes it.
func (h *Handler) giveBack(c *client) {
	if c.block != nil {
		c.block.Skip()
	}
	if ours := c.forget(); ours && c.idle() {
		h.pool.Put(c)
		return
	}
	c.close()
}

// dropServer closes the idle connections to a server, since it may count them, and returns their number.
func (h *Handler) dropServer(s server) int {
	return h.pool.Drop(func(c *client) bool { return c.server.Address == s.Address })
}

// Server implements scheme.PooledConn.
func (c *client) Server() string { return c.server.Address }

// Close ends the session. It waits neither for the reply nor for a server that does not read.
func (c *client) Close() {
	_ = c.wait()
	_, _ = c.conn.Write([]byte("QUIT\r\n")) // the connection is closed anyway
	c.close()
}
