package adversary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/net/http2"
)

// slowFrame is a client that occupies streams or a connection while doing little. If urnd would wait for it,
// the wait must be limited.
type slowFrame struct {
	name, section string
	settings      []http2.Setting
	streams       uint32                  // 0: the connection must end
	begin         func(c *hostile)        // frames sent first, or all
	drip          func(c *hostile, i int) // frames sent repeatedly, unless nil
	most          func(h *heard) error    // nil checks nothing
}

// slowFrames wait for the timeouts of urnd: for a header, a body, an unread response, and an idle connection
// (RFC 9113 section 10.5, CVE-2019-9511 and CVE-2019-9517).
func (s *stage) slowFrames() []payload {
	var payloads []payload
	for _, f := range allSlowFrames() {
		payloads = append(payloads, s.attacked(f.name, f.section, func(ctx context.Context) error {
			c, err := s.hostile(ctx, s.attacker(), f.settings...)
			if err != nil {
				return err
			}
			defer c.conn.Close()
			return f.play(ctx, c)
		}))
	}
	for name, beginning := range map[string]string{
		"nothing": "", "half of the preface": "PRI * HTTP/2.0\r\n\r\nS", "the preface alone": http2.ClientPreface,
		"half of the first SETTINGS":         http2.ClientPreface + "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03",
		"no acknowledgement of the settings": http2.ClientPreface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00",
	} {
		name := "a connection with " + name
		payloads = append(payloads, s.attacked(name, "RFC 9113 section 3.4", func(ctx context.Context) error {
			c, err := s.dialHTTP2(ctx, s.attacker())
			if err != nil {
				return err
			}
			defer c.conn.Close()
			_, _ = io.WriteString(c.conn, beginning)
			go c.hear()
			return c.await(ctx, func(h *heard) bool { return h.closed != nil })
		}))
	}
	payloads = append(payloads, s.unread("100 streams that nobody reads", func(c *hostile) {
		for i := range uint32(streams) {
			c.headers(2*i+1, true, getBlock("/uncached"))
		}
	}), s.unread("20 000 requests that nobody reads", func(c *hostile) {
		for i := range uint32(20_000) {
			c.headers(2*i+1, true, getBlock("/small"))
		}
	}))
	return payloads
}

// play returns when all streams or the connection have ended.
func (f slowFrame) play(ctx context.Context, c *hostile) error {
	f.begin(c)
	ended := func(h *heard) bool {
		for i := range f.streams {
			if !h.done(2*i + 1) {
				return false
			}
		}
		return f.streams > 0 || h.closed != nil
	}
	if f.drip != nil {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ctx.Err() == nil && !c.now(ended); i++ {
			f.drip(c, i)
			<-tick.C
		}
	}
	if err := c.await(ctx, ended); err != nil {
		return err
	}
	if f.most != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		return f.most(&c.heard)
	}
	return nil
}

// unread sends requests over a connection that is not read: urnd must not wait for it indefinitely.
func (s *stage) unread(name string, send func(c *hostile)) payload {
	return s.attacked(name, "CVE-2019-9517", func(ctx context.Context) error {
		c, err := s.dialHTTP2(ctx, s.attacker())
		if err != nil {
			return err
		}
		defer c.conn.Close()
		c.begin(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30})
		_ = c.WriteWindowUpdate(0, 1<<30)
		send(c)
		for err == nil {
			err = c.WritePing(false, [8]byte{})
		}
		if ctx.Err() != nil {
			return errors.New("the connection stays open")
		}
		return nil
	})
}

func allSlowFrames() []slowFrame {
	window := func(n uint32) []http2.Setting { return []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: n}} }
	gets := func(path string) func(c *hostile) {
		return func(c *hostile) {
			for i := range uint32(streams) {
				c.headers(2*i+1, true, getBlock(path))
			}
		}
	}
	ping := func(c *hostile, _ int) { _ = c.WritePing(false, [8]byte{}) }
	all := []slowFrame{
		{"windows of 0 for what is cached", "CVE-2019-9511", window(0), streams, gets("/small"), nil, none},
		{"windows of 0 for what is long", "CVE-2019-9511", window(0), streams, gets("/large"), nil, none},
		{
			"windows of 0 for what is not cached, and PING", "CVE-2019-9511", window(0), streams,
			gets("/uncached"), ping, none,
		},
		{"windows of 1 byte", "CVE-2019-9511", window(1), streams, gets("/large"), nil, nil},
		{
			"a window that opens by one byte for 2 s",
			"CVE-2019-9511",
			window(1),
			streams,
			gets("/large"),
			func(c *hostile, i int) {
				for stream := range uint32(streams) {
					if i < 40 && i%4 == 0 {
						_ = c.WriteWindowUpdate(2*stream+1, 1)
					}
				}
			},
			nil,
		},
		{"the window of the connection used up", "CVE-2019-9511", window(1 << 30), 2, func(c *hostile) {
			c.headers(1, true, getBlock("/large"))
			c.headers(3, true, getBlock("/uncached"))
		}, ping, func(h *heard) error {
			if n := h.bytes[1] + h.bytes[3]; n > 65535 {
				return fmt.Errorf("%d bytes are sent", n)
			}
			return nil
		}},
		{"windows that become negative", "RFC 9113 section 6.9.2", nil, streams, func(c *hostile) {
			gets("/large")(c)
			_ = c.WriteSettings(window(0)...)
		}, ping, nil},
		{"uploads without content", "RFC 9110 section 15.5.9", nil, streams, func(c *hostile) {
			for i := range uint32(streams) {
				c.headers(2*i+1, false, postBlock("/small", "content-length: 10"))
			}
		}, ping, nil},
		{"uploads that stop", "RFC 9110 section 15.5.9", nil, streams, func(c *hostile) {
			for i := range uint32(streams) {
				c.headers(2*i+1, false, postBlock("/small"))
				_ = c.WriteData(2*i+1, false, []byte("x"))
			}
		}, nil, nil},
		{"uploads that nobody allows to go on", "RFC 9110 section 10.1.1", nil, streams, func(c *hostile) {
			for i := range uint32(streams) {
				c.headers(2*i+1, false, postBlock("/hold", "expect: 100-continue", "content-length: 10"))
			}
		}, nil, nil},
		{"an upload that is longer than the window", "RFC 9113 section 6.9.1", nil, 0, func(c *hostile) {
			for i := range uint32(8) {
				c.headers(2*i+1, false, postBlock("/hold"))
				for range 64 {
					_ = c.WriteData(2*i+1, false, make([]byte, 16<<10))
				}
			}
		}, nil, nil},
		{"a header without end", "RFC 9113 section 6.10", nil, 0, func(c *hostile) {
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: getBlock("/small")[:3]})
		}, nil, nil},
		{"a header that comes byte by byte", "RFC 9113 section 6.10", nil, 0, func(c *hostile) {
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1})
		}, func(c *hostile, _ int) { _ = c.WriteContinuation(1, false, []byte{0x82}) }, nil},
		{"a connection without requests", "RFC 9113 section 9.1", nil, 0, func(*hostile) {}, nil, nil},
		{
			"a connection without requests, and PING",
			"RFC 9113 section 9.1",
			nil,
			0,
			func(*hostile) {},
			func(c *hostile, i int) {
				if i%4 == 0 {
					ping(c, i)
				}
			},
			nil,
		},
	}
	for name, half := range map[string]string{
		"a length": "\x00\x00", "the head of HEADERS": "\x00\x00\x40\x01\x05\x00\x00\x00\x03",
		"HEADERS": "\x00\x00\x40\x01\x05\x00\x00\x00\x03\x82", "DATA": "\x00\x00\x40\x00\x00\x00\x00\x00\x01xx",
		"SETTINGS": "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03", "PING": "\x00\x00\x08\x06\x00\x00\x00\x00\x0012",
	} {
		for state, end := range map[string]bool{"behind a request": true, "behind half of a request": false} {
			all = append(
				all,
				slowFrame{"a half of " + name + " " + state, "RFC 9113 section 4.1", nil, 0, func(c *hostile) {
					block := getBlock("/hold")
					if !end {
						block = postBlock("/hold")
					}
					c.headers(1, end, block)
					_, _ = io.WriteString(c.conn, half)
				}, nil, nil},
			)
		}
	}
	return all
}

// none returns an error if content was sent.
func none(h *heard) error {
	for _, n := range h.bytes {
		if n > 0 {
			return fmt.Errorf("%d bytes are sent", n)
		}
	}
	return nil
}
