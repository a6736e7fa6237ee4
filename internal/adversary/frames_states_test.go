package adversary

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/net/http2"
)

// frameStates are frames received in each state of a stream. A cell of the table contains the results permitted
// by RFC 9113 section 5.1: g for no error, s for a stream error, c for a connection error.
func (s *stage) frameStates() []payload {
	type step struct {
		name string
		send func(c *hostile)
	}
	columns := []step{
		{"DATA", func(c *hostile) { _ = c.WriteData(1, false, []byte("x")) }},
		{"HEADERS that end", func(c *hostile) { c.headers(1, true, header("x: y")) }},
		{"HEADERS that do not end", func(c *hostile) { c.headers(1, false, header("x: y")) }},
		{"a request", func(c *hostile) { c.headers(1, true, getBlock("/small")) }},
		{"PRIORITY", func(c *hostile) { _ = c.WritePriority(1, http2.PriorityParam{StreamDep: 3}) }},
		{"RST_STREAM", func(c *hostile) { _ = c.WriteRSTStream(1, http2.ErrCodeCancel) }},
		{"WINDOW_UPDATE", func(c *hostile) { _ = c.WriteWindowUpdate(1, 1) }},
		{"CONTINUATION", func(c *hostile) { _ = c.WriteContinuation(1, true, []byte{0x82}) }},
		{"PUSH_PROMISE", func(c *hostile) { c.raw(5, http2.FramePushPromise, 4, 1, "\x00\x00\x00\x02\x82") }},
	}
	var payloads []payload
	for _, row := range []struct {
		step
		allowed string // a cell for each column
	}{
		{step{"idle", func(*hostile) {}}, "c sc sc g g c c c c"},
		{step{"open", func(c *hostile) { c.headers(1, false, postBlock("/hold")) }}, "g g sc sc g g g c c"},
		{step{"half-closed", func(c *hostile) { c.headers(1, true, getBlock("/hold")) }}, "sc sc sc sc g gc gc c c"},
		{step{"closed", func(c *hostile) { c.headers(1, true, getBlock("/small")) }}, "sc sc sc sc g gc gc c c"},
		{
			step{"closed behind others", func(c *hostile) { c.headers(5, true, getBlock("/hold")) }},
			"sc sc sc sc g gc gc c c",
		},
		{step{"reset by the client", func(c *hostile) {
			c.headers(1, true, getBlock("/hold"))
			_ = c.WriteRSTStream(1, http2.ErrCodeCancel)
		}}, "sc sc sc sc g gc gc c c"},
		{
			step{"reset by urnd", func(c *hostile) { c.headers(1, false, postBlock("/hold", "X: y")) }},
			"gsc gsc gsc gsc g g g c c",
		},
		{step{"a tunnel", func(c *hostile) {
			c.headers(1, false, header(":method: CONNECT", ":authority: "+s.origin.address))
			_ = c.WriteData(1, false, []byte(forSite("GET /hold", "\r\n")))
		}}, "g gs s sc g g g c c"},
		{
			step{"answered before its content", func(c *hostile) {
				c.headers(1, false, postBlock("/hold", "connection: close"))
			}},
			"gsc gsc gsc gsc g g g c c",
		},
	} {
		for i, allowed := range strings.Fields(row.allowed) {
			column := columns[i]
			name := column.name + " on a stream that is " + row.name
			payloads = append(payloads, payload{
				name:    name,
				section: "RFC 9113 section 5.1",
				shows:   name,
				play: func(ctx context.Context) error {
					c, err := s.hostile(ctx, friend) // only this client may open tunnels
					if err != nil {
						return err
					}
					defer c.conn.Close()
					row.send(c)
					if row.name == "closed" {
						if err := c.await(ctx, func(h *heard) bool { return h.done(1) }); err != nil {
							return err
						}
					}
					return c.outcome(ctx, column.send, allowed)
				},
			})
		}
	}
	return payloads
}

// outcome sends a frame between two PING frames, and returns an error unless the result is permitted.
func (c *hostile) outcome(ctx context.Context, send func(*hostile), allowed string) error {
	_ = c.WritePing(false, [8]byte{1})
	if err := c.await(ctx, func(h *heard) bool { return h.pongs > 0 }); err != nil {
		return err
	}
	resets := 0
	c.now(func(h *heard) bool { resets = h.resets[1]; return true })
	send(c)
	_ = c.WritePing(false, [8]byte{2})
	if err := c.await(ctx, func(h *heard) bool { return h.over() || h.pongs > 1 }); err != nil {
		return err
	}
	got := "g"
	c.now(func(h *heard) bool {
		switch {
		case h.over():
			got = "c"
		case h.resets[1] > resets:
			got = "s"
		}
		return true
	})
	if !strings.Contains(allowed, got) {
		return fmt.Errorf("the end is %q, and not one of %q: %s", got, allowed, c)
	}
	return nil
}
