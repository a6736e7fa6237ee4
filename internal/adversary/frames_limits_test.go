package adversary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/http2"
)

// frameLimits reach and exceed the limits of a connection. Legal frames must not affect it; illegal ones end
// it.
func (s *stage) frameLimits() []payload {
	var payloads []payload
	for _, f := range allFrameLimits() {
		payloads = append(payloads, s.attacked(f.name, f.section, func(ctx context.Context) error {
			c, err := s.hostile(ctx, s.attacker())
			if err != nil {
				return err
			}
			defer c.conn.Close()
			f.send(&c.client2)
			const last = 999 // above all streams of a payload
			c.headers(last, true, getBlock("/small"))
			if err := c.await(ctx, func(h *heard) bool { return h.over() || h.done(last) }); err != nil {
				return err
			}
			if f.legal != c.now(func(h *heard) bool { return h.status[last] == 200 }) {
				return fmt.Errorf("legal is %t: %s", f.legal, c)
			}
			return nil
		}))
	}
	more := s.attacked("ten streams too many", "RFC 9113 section 5.1.2", func(ctx context.Context) error {
		c, err := s.hostile(ctx, s.attacker())
		if err != nil {
			return err
		}
		defer c.conn.Close()
		for i := range uint32(streams + 10) {
			c.headers(2*i+1, true, getBlock("/hold"))
		}
		_ = c.WritePing(false, [8]byte{1})
		if err := c.await(ctx, func(h *heard) bool { return h.pongs > 0 }); err != nil {
			return err
		}
		if !c.now(func(h *heard) bool { return len(h.resets) == 10 && h.resets[2*streams+1] == 1 && !h.over() }) {
			return errors.New(c.String())
		}
		return nil
	})
	return append(payloads, more)
}

func allFrameLimits() []frames {
	var all []frames
	add := func(name, section string, legal bool, send func(c *client2)) {
		all = append(all, frames{name, "RFC " + section, legal, send})
	}
	setting := func(id http2.SettingID, value uint32) func(c *client2) {
		return func(c *client2) { _ = c.WriteSettings(http2.Setting{ID: id, Val: value}) }
	}
	block := func(parts ...string) func(c *client2) {
		return func(c *client2) { c.headers(1, true, []byte(strings.Join(parts, ""))) }
	}
	request, insert := string(getBlock("/small")), "\x40\x01x\x01y" // a field that is added to the dynamic table
	for name, size := range map[string]uint32{"0": 0, "1": 1, "2^32-1": 1<<32 - 1} {
		add("a table of "+name+" for responses", "7541 section 4.2", true, setting(http2.SettingHeaderTableSize, size))
		add(
			"a list of "+name+" for responses", "9113 section 6.5.2", true,
			setting(http2.SettingMaxHeaderListSize, size),
		)
		add(
			"at most "+name+" streams of urnd", "9113 section 6.5.2", true,
			setting(http2.SettingMaxConcurrentStreams, size),
		)
	}
	add("a table of another size before", "7541 section 4.2", true, block("\x20", "\x3f\xe1\x1f", request))
	add("a table of another size behind a field", "7541 section 4.2", false, block(request, "\x20"))
	add("a table of one byte more", "7541 section 6.3", false, block("\x3f\xe2\x1f", request))
	add("a field of a table that was emptied", "7541 section 4.4", false, block(insert, "\x20", "\xbe", request))
	add("a field of the table before it is emptied", "7541 section 4.2", false, func(c *client2) {
		c.headers(1, true, []byte(request+insert))
		c.headers(3, true, []byte("\x20"+request+"\xbe"))
	})
	add("1 500 fields that enter the table", "7541 section 4.1", true, block(request, strings.Repeat(insert, 1500)))
	add(
		"a field larger than the table", "7541 section 4.4", true,
		block(request, "\x40\x01x\x7f\x81\x27", strings.Repeat("a", 5120)),
	)
	add("the index 0", "7541 section 6.1", false, block("\x80"))
	add("an index of 2^62", "7541 section 5.1", false, block("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x3f"))
	add("a text of 2^62 bytes", "7541 section 5.2", false, block("\x40\x7f\xff\xff\xff\xff\xff\xff\xff\xff\x3f"))
	add("padding of Huffman code that is too long", "7541 section 5.2", false, block("\x40\x01x\x82\x1f\xff", request))
	add("a cookie in crumbs", "9113 section 8.2.3", true, func(c *client2) {
		c.headers(1, true, []byte(request+strings.Repeat("\x60\x03a=b", 30)))
	})
	add("a field block in 30 frames", "9113 section 6.10", true, func(c *client2) {
		_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(request[:1]), EndStream: true})
		rest := []byte(request[1:])
		for i := range min(29, len(rest)-1) {
			_ = c.WriteContinuation(1, false, rest[i:i+1])
		}
		_ = c.WriteContinuation(1, true, rest[min(29, len(rest)-1):])
	})
	add("windows of 2^31-1", "9113 section 6.9.1", true, func(c *client2) {
		_ = c.WriteWindowUpdate(0, 1<<31-1-65535)
		_ = c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1})
		c.headers(1, true, getBlock("/large"))
	})
	add(
		"a window of the connection of 2^31", "9113 section 6.9.1", false,
		func(c *client2) { _ = c.WriteWindowUpdate(0, 1<<31-65535) },
	)
	add("the window of a stream that a setting makes 2^31", "9113 section 6.9.2", false, func(c *client2) {
		c.headers(1, true, getBlock("/hold"))
		_ = c.WriteWindowUpdate(1, 1)
		_ = c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1})
	})
	add("more content than the windows of streams", "9113 section 6.9.1", true, func(c *client2) {
		for i := range uint32(4) {
			c.headers(2*i+1, false, postBlock("/hold"))
			for range 16 {
				_ = c.WriteData(2*i+1, false, bytes.Repeat([]byte("a"), 16<<10))
			}
		}
	})
	add("an upload to what is answered before", "9113 section 8.1", true, func(c *client2) {
		c.headers(1, false, header(":method: POST", ":scheme: https", ":path: /nothing", ":authority: a"))
		for range 15 {
			_ = c.WriteData(1, false, make([]byte, 16<<10))
		}
	})
	add(
		"a stream of 2^31-1, and one behind it", "9113 section 5.1.1", false,
		func(c *client2) { c.headers(1<<31-1, true, getBlock("/small")) },
	)
	add(
		"GOAWAY, and requests", "9113 section 6.8", true,
		func(c *client2) { _ = c.WriteGoAway(0, http2.ErrCodeNo, nil) },
	)
	return all
}
