package adversary

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/http2"
)

// frameFlood is a frame, or several, that a client sends repeatedly.
type frameFlood struct {
	name, section string
	begin         func(c *hostile) // nil does nothing
	next          func(c *hostile, i uint32) error
}

// frameFloods cost urnd more than the client: the connection must be closed before there are many (RFC 9113
// section 10.5).
func (s *stage) frameFloods() []payload {
	var payloads []payload
	for _, f := range allFrameFloods() {
		payloads = append(payloads, s.attacked(f.name, f.section, func(ctx context.Context) error {
			c, err := s.hostile(ctx, s.attacker())
			if err != nil {
				return err
			}
			defer c.conn.Close()
			return f.play(ctx, c)
		}))
	}
	return inFamily("frames: floods", payloads)
}

func (f frameFlood) play(ctx context.Context, c *hostile) error {
	const many = 5000
	if f.begin != nil {
		f.begin(c)
	}
	out := bufio.NewWriterSize(c.conn, 2<<10)
	batch := &hostile{client2: client2{http2.NewFramer(out, nil), c.conn}}
	batch.AllowIllegalWrites = true
	sent := uint32(0)
	for sent < many && !c.now((*heard).over) && f.next(batch, sent) == nil {
		sent++
	}
	_ = out.Flush()
	_ = c.WritePing(false, [8]byte{1}) // data in the buffers of the kernel has not been read yet
	if err := c.await(ctx, func(h *heard) bool { return h.over() || h.pongs > 0 }); err != nil {
		return err
	}
	if !c.now((*heard).over) {
		return fmt.Errorf("all of %d are taken: %s", sent, c)
	}
	if c.now(func(h *heard) bool { return h.goAway != nil && *h.goAway != http2.ErrCodeEnhanceYourCalm }) {
		return errors.New("it is no flood: " + c.String())
	}
	return nil
}

// request2 returns the stream of a request of a flood.
func request2(i uint32) uint32 { return 2*i + 3 }

func allFrameFloods() []frameFlood {
	held := func(c *hostile) { c.headers(1, false, postBlock("/hold")) }
	ended := func(c *hostile) { c.headers(1, true, getBlock("/small")) }
	block := func(c *hostile) {
		_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: getBlock("/small"), EndStream: true})
	}
	all := []frameFlood{
		{"CONTINUATION without content", "CVE-2024-27983", block, func(c *hostile, _ uint32) error {
			return c.WriteContinuation(1, false, nil)
		}},
		{"CONTINUATION of one byte", "CVE-2024-27983", block, func(c *hostile, _ uint32) error {
			return c.WriteContinuation(1, false, []byte{0x82})
		}},
		{"CONTINUATION of 16 KiB", "CVE-2023-45288", block, func(c *hostile, _ uint32) error {
			return c.WriteContinuation(1, false, []byte(strings.Repeat("\x40\x01x\x0aabcdefghij", 1170)))
		}},
		{"DATA without content", "CVE-2019-9518", held, func(c *hostile, _ uint32) error {
			return c.WriteData(1, false, nil)
		}},
		{"DATA that is padding", "CVE-2019-9518", held, func(c *hostile, _ uint32) error {
			return c.WriteDataPadded(1, false, nil, []byte{0, 0, 0})
		}},
		{"DATA behind the end of a stream", "RFC 9113 section 5.1", ended, func(c *hostile, _ uint32) error {
			return c.WriteData(1, false, []byte("x"))
		}},
		{"PING", "CVE-2019-9512", nil, func(c *hostile, _ uint32) error { return c.WritePing(false, [8]byte{}) }},
		{"PING ACK that nobody asked for", "CVE-2019-9512", nil, func(c *hostile, _ uint32) error {
			return c.WritePing(true, [8]byte{})
		}},
		{"SETTINGS without content", "CVE-2019-9515", nil, func(c *hostile, _ uint32) error {
			return c.WriteSettings()
		}},
		{"SETTINGS ACK", "CVE-2019-9515", nil, func(c *hostile, _ uint32) error { return c.WriteSettingsAck() }},
		{"SETTINGS of windows", "RFC 9113 section 6.9.2", held, func(c *hostile, i uint32) error {
			return c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 65535 * (i % 2)})
		}},
		{"SETTINGS of tables", "RFC 7541 section 4.2", held, func(c *hostile, i uint32) error {
			return c.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 4096 * (i % 2)})
		}},
		{"SETTINGS of 2 000 windows", "CVE-2019-9515", held, func(c *hostile, _ uint32) error {
			return c.WriteSettings(make([]http2.Setting, 2000)...)
		}},
		{"PRIORITY", "CVE-2019-9513", nil, func(c *hostile, i uint32) error {
			return c.WritePriority(1, http2.PriorityParam{StreamDep: 2*i + 3})
		}},
		{"PRIORITY_UPDATE", "RFC 9218 section 7", nil, func(c *hostile, _ uint32) error {
			return c.WritePriorityUpdate(1, "u=1")
		}},
		{"WINDOW_UPDATE of the connection", "RFC 9113 section 6.9", nil, func(c *hostile, _ uint32) error {
			return c.WriteWindowUpdate(0, 1)
		}},
		{"WINDOW_UPDATE of a stream", "RFC 9113 section 6.9", held, func(c *hostile, _ uint32) error {
			return c.WriteWindowUpdate(1, 1)
		}},
		{"WINDOW_UPDATE behind the end of a stream", "RFC 9113 section 5.1", ended, func(c *hostile, _ uint32) error {
			return c.WriteWindowUpdate(1, 1)
		}},
		{"RST_STREAM behind the end of a stream", "CVE-2019-9514", ended, func(c *hostile, _ uint32) error {
			return c.WriteRSTStream(1, http2.ErrCodeCancel)
		}},
		{"GOAWAY", "RFC 9113 section 6.8", nil, func(c *hostile, _ uint32) error {
			return c.WriteGoAway(0, http2.ErrCodeNo, nil)
		}},
		{"frames of an unknown type", "RFC 9113 section 4.1", nil, func(c *hostile, _ uint32) error {
			return c.WriteRawFrame(0xbe, 0xff, 1, []byte("x"))
		}},
	}
	return append(all, resetFloods()...)
}

// resetFloods are requests whose streams the client resets (CVE-2023-44487), or makes urnd reset
// (CVE-2025-8671): both consider the stream closed while work may continue.
func resetFloods() []frameFlood {
	var all []frameFlood
	for _, f := range []struct {
		name, section string
		fields        []string
		end           bool // END_STREAM with the header
		then          func(c *hostile, id uint32) error
	}{
		{"that the client resets", "CVE-2023-44487", nil, true, func(c *hostile, id uint32) error {
			return c.WriteRSTStream(id, http2.ErrCodeCancel)
		}},
		{"with content that the client resets", "CVE-2023-44487", nil, false, func(c *hostile, id uint32) error {
			return c.WriteRSTStream(id, http2.ErrCodeNo)
		}},
		{"whose window grows by 0", "CVE-2025-8671", nil, true, func(c *hostile, id uint32) error {
			return c.WriteWindowUpdate(id, 0)
		}},
		{"whose window overflows", "CVE-2025-8671", nil, false, func(c *hostile, id uint32) error {
			return c.WriteWindowUpdate(id, 1<<31-1)
		}},
		{"with DATA behind the end", "CVE-2025-8671", nil, true, func(c *hostile, id uint32) error {
			return c.WriteData(id, true, []byte("x"))
		}},
		{"with HEADERS behind the end", "CVE-2025-8671", nil, true, func(c *hostile, id uint32) error {
			c.headers(id, true, header("x: y"))
			return nil
		}},
		{"that depend on themselves", "CVE-2025-8671", nil, false, func(c *hostile, id uint32) error {
			return c.WritePriority(id, http2.PriorityParam{StreamDep: id})
		}},
		{
			"with more content than declared", "CVE-2025-8671",
			[]string{"content-length: 1"},
			false, func(c *hostile, id uint32) error {
				return c.WriteData(id, false, []byte("xx"))
			},
		},
		{
			"with less content than declared", "CVE-2025-8671",
			[]string{"content-length: 9"},
			false, func(c *hostile, id uint32) error {
				return c.WriteData(id, true, []byte("x"))
			},
		},
		{"with a pseudo-header in the trailer", "CVE-2025-8671", nil, false, func(c *hostile, id uint32) error {
			c.headers(id, true, header(":path: /"))
			return nil
		}},
		{"with a trailer that ends nothing", "CVE-2025-8671", nil, false, func(c *hostile, id uint32) error {
			c.headers(id, false, header("x: y"))
			return nil
		}},
		{"that are malformed", "RFC 9113 section 8.1.1", []string{"X: y"}, true, nil},
		{"with fields about the connection", "RFC 9113 section 8.2.2", []string{"connection: close"}, true, nil},
		{"above the limit", "RFC 9113 section 5.1.2", nil, false, nil},
	} {
		all = append(all, frameFlood{"requests " + f.name, f.section, nil, func(c *hostile, i uint32) error {
			id, block := request2(i), batchBlock(f.fields...)
			if f.end {
				block = getBlock("/hold", f.fields...)
			}
			c.headers(id, f.end, block)
			if f.then == nil {
				return nil
			}
			return f.then(c, id)
		}})
	}
	return all
}

// batchBlock is the field block of a request that only waits for its content.
func batchBlock(fields ...string) []byte {
	return header(append([]string{
		":method: POST", ":scheme: https", ":path: /api/v1/resolve", ":authority: a", "content-type: text/plain",
	}, fields...)...)
}
