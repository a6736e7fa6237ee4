package adversary

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// client2 is an HTTP/2 client that can send any frame.
type client2 struct {
	*http2.Framer
	conn *tls.Conn
}

// frames is an HTTP/2 payload.
type frames struct {
	name, section string
	legal         bool
	send          func(c *client2)
}

// header encodes fields, "name: value", as literals.
func header(fields ...string) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range fields {
		i := strings.Index(field[1:], ":") + 1 // a pseudo-header field begins with a colon
		_ = encoder.WriteField(hpack.HeaderField{Name: field[:i], Value: strings.TrimPrefix(field[i+1:], " ")})
	}
	return block.Bytes()
}

// plain returns the field block of a legal request followed by other fields.
func plain(fields ...string) []byte {
	return header(append([]string{":method: GET", ":scheme: https", ":path: /urn:ietf:rfc:2648", ":authority: a"},
		fields...)...)
}

// headers sends a HEADERS frame with END_HEADERS and, if end is set, END_STREAM.
func (c *client2) headers(stream uint32, end bool, block []byte) {
	_ = c.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: block, EndStream: end,
		EndHeaders: true,
	})
}

// raw sends a frame unmodified, possibly with a wrong length.
func (c *client2) raw(length int, kind http2.FrameType, flags http2.Flags, stream uint32, body string) {
	head := []byte{
		byte(length >> 16), byte(length >> 8), byte(length), byte(kind), byte(flags), byte(stream >> 24),
		byte(stream >> 16), byte(stream >> 8), byte(stream),
	}
	_, _ = c.conn.Write(append(head, body...))
}

// withHTTP2 converts frames to payloads.
func (s *stage) withHTTP2() []payload {
	var payloads []payload
	target := "/p/" + s.id()
	for _, f := range append(framesOfHTTP2(), fieldsOfHTTP2("http://"+s.origin.address+target)...) {
		payloads = append(payloads,
			payload{name: f.name, section: f.section, shows: f.name, play: func(ctx context.Context) error {
				conn, err := connectTLS(ctx, s.tls, "h2")
				if err != nil {
					return err
				}
				defer conn.Close()
				return f.judge(&client2{http2.NewFramer(conn, conn), conn})
			}})
	}
	return inFamily("http/2", payloads)
}

// judge sends the preface and the frames, and reads the result.
func (f frames) judge(c *client2) error {
	c.AllowIllegalWrites = true
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	go func() { // the server may close before it has read everything
		_, _ = io.WriteString(c.conn, http2.ClientPreface)
		_ = c.WriteSettings()
		f.send(c)
		_ = c.WritePing(false, [8]byte{1})
	}()
	end, err := outcomeOfHTTP2(c)
	switch {
	case err != nil:
		return err
	case f.legal && (end < 200 || end >= 400):
		return fmt.Errorf("it is legal, but the end is %d", end)
	case !f.legal && (end >= 500 && end != 501 || end > 0 && end < 400):
		return fmt.Errorf("it must be refused, but is answered %d", end)
	default:
		return nil
	}
}

// outcomeOfHTTP2 returns the last status received on a connection, or 0 if the connection or a stream ended
// with an error.
func outcomeOfHTTP2(c *client2) (status int, err error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(2 * silence))
	ponged := false
	for {
		frame, err := c.ReadFrame()
		switch {
		case err == nil:
		case errors.As(err, new(http2.StreamError)):
			return 0, fmt.Errorf("urnd sent an invalid header: %w", err)
		default: // closed; earlier frames count
			return status, nil
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			_, _ = fmt.Sscan(frame.PseudoValue("status"), &status)
			if ponged || frame.StreamEnded() {
				return status, nil
			}
		case *http2.DataFrame:
			if frame.StreamEnded() {
				return status, nil
			}
		case *http2.RSTStreamFrame:
			return status, nil
		case *http2.GoAwayFrame:
			return status, nil
		case *http2.PingFrame:
			ponged = ponged || frame.IsAck()
			_ = c.conn.SetReadDeadline(time.Now().Add(silence))
		}
	}
}

// framesOfHTTP2 are frames that RFC 9113 forbids at their position, or with their content.
func framesOfHTTP2() []frames {
	var all []frames
	add := func(name, section string, send func(*client2)) {
		all = append(all, frames{name, "RFC 9113 section " + section, false, send})
	}
	all = append(all, frames{
		"a legal request", "RFC 9113 section 8.1", true,
		func(c *client2) { c.headers(1, true, plain()) },
	})
	for _, kind := range []http2.FrameType{
		http2.FrameData, http2.FrameHeaders, http2.FrameRSTStream,
		http2.FrameContinuation,
	} {
		add(kind.String()+" on stream 0", "6", func(c *client2) { c.raw(4, kind, 4, 0, "\x00\x00\x00\x00") })
	}
	for _, kind := range []http2.FrameType{http2.FrameSettings, http2.FramePing, http2.FrameGoAway} {
		add(kind.String()+" on stream 1", "6",
			func(c *client2) { c.raw(8, kind, 0, 1, "\x00\x00\x00\x00\x00\x00\x00\x00") })
	}
	for _, kind := range []http2.FrameType{
		http2.FrameData, http2.FrameRSTStream, http2.FrameWindowUpdate,
		http2.FrameContinuation,
	} {
		add(kind.String()+" on an idle stream", "5.1", func(c *client2) { c.raw(4, kind, 0, 5, "\x00\x00\x00\x01") })
	}
	for kind, length := range map[http2.FrameType]int{
		http2.FrameSettings: 5, http2.FramePing: 7, http2.FrameGoAway: 7, http2.FrameWindowUpdate: 3,
		http2.FrameRSTStream: 5,
	} {
		add(fmt.Sprintf("%s of %d bytes", kind, length), "4.2", func(c *client2) {
			stream := uint32(0)
			if kind == http2.FrameRSTStream {
				c.headers(1, false, plain())
				stream = 1
			}
			c.raw(length, kind, 0, stream, strings.Repeat("\x00", length))
		})
	}
	add("a frame of 16 MiB", "4.2", func(c *client2) { c.raw(1<<24-1, http2.FrameData, 0, 1, "x") })
	add("an even stream", "5.1.1", func(c *client2) { c.headers(2, true, plain()) })
	add("a stream below the last", "5.1.1",
		func(c *client2) { c.headers(5, false, header(":method: FOO")); c.headers(3, true, plain()) })
	add("SETTINGS ACK with content", "6.5",
		func(c *client2) { c.raw(6, http2.FrameSettings, 1, 0, "\x00\x01\x00\x00\x00\x00") })
	add("an initial window above 2^31-1", "6.5.2",
		func(c *client2) { c.raw(6, http2.FrameSettings, 0, 0, "\x00\x04\xff\xff\xff\xff") })
	add("a maximum frame size of 1", "6.5.2",
		func(c *client2) { c.raw(6, http2.FrameSettings, 0, 0, "\x00\x05\x00\x00\x00\x01") })
	add("push enabled by 2", "6.5.2",
		func(c *client2) { c.raw(6, http2.FrameSettings, 0, 0, "\x00\x02\x00\x00\x00\x02") })
	// Without an earlier request, which could be answered first.
	add("PUSH_PROMISE from a client", "8.4",
		func(c *client2) { c.raw(5, http2.FramePushPromise, 4, 1, "\x00\x00\x00\x02\x82") })
	add("a window that grows by 0", "6.9",
		func(c *client2) { c.raw(4, http2.FrameWindowUpdate, 0, 0, "\x00\x00\x00\x00") })
	add("a window that overflows", "6.9.1",
		func(c *client2) { c.raw(4, http2.FrameWindowUpdate, 0, 0, "\x7f\xff\xff\xff") })
	add("CONTINUATION without HEADERS", "6.10", func(c *client2) { c.raw(1, http2.FrameContinuation, 4, 1, "\x82") })
	add("another frame between HEADERS and CONTINUATION", "6.10", func(c *client2) {
		c.raw(1, http2.FrameHeaders, 1, 1, "\x82")
		_ = c.WritePing(false, [8]byte{})
	})
	add("CONTINUATION without end", "10.5.1", func(c *client2) {
		c.raw(1, http2.FrameHeaders, 1, 1, "\x82")
		for range 20_000 {
			c.raw(16, http2.FrameContinuation, 0, 1, "\x40\x03abc\x0aabcdefghij")
		}
	})
	add("padding longer than the frame", "6.1", func(c *client2) { // of a body required for a response
		c.headers(1, false, header(":method: POST", ":scheme: https", ":path: /api/v1/resolve", ":authority: a"))
		c.raw(2, http2.FrameData, 8, 1, "\xff\x00")
	})
	add("DATA behind the end of the stream", "5.1",
		func(c *client2) { c.headers(1, true, header(":method: GET")); c.raw(1, http2.FrameData, 0, 1, "x") })
	add("an index of HPACK that is not there", "4.3",
		func(c *client2) { c.headers(1, true, []byte("\xff\xff\xff\x0f")) })
	add("an integer of HPACK without end", "4.3",
		func(c *client2) { c.headers(1, true, []byte(strings.Repeat("\xff", 200))) })
	add("a table of HPACK that is too large", "4.3",
		func(c *client2) { c.headers(1, true, []byte("\x3f\xff\xff\xff\x07")) })
	add("Huffman code with EOS", "4.3", func(c *client2) { c.headers(1, true, []byte("\x40\x84\xff\xff\xff\xff\x00")) })
	add("a header cut off", "4.3", func(c *client2) { c.headers(1, true, plain()[:5]) })
	add("a bomb of HPACK", "10.5.1", func(c *client2) {
		block := append(plain(), header("x-bomb: "+strings.Repeat("a", 3000))...)
		c.headers(1, true, append(block, bytes.Repeat([]byte{0xbe}, 10_000)...))
	})
	add("no preface", "3.4", func(c *client2) { _, _ = io.WriteString(c.conn, http2.ClientPreface) })
	all = append(all, frames{"900 resets", "RFC 9113 section 10.5", true, func(c *client2) { // more end the connection
		for i := range uint32(900) {
			c.headers(2*i+1, true, plain())
			_ = c.WriteRSTStream(2*i+1, http2.ErrCodeCancel)
		}
		c.headers(1801, true, plain())
	}})
	return all
}

// fieldsOfHTTP2 are headers forbidden by RFC 9113 section 8.
func fieldsOfHTTP2(absolute string) []frames {
	var all []frames
	add := func(name, section string, block []byte) {
		all = append(all, frames{name, section, false, func(c *client2) { c.headers(1, true, block) }})
	}
	const path = ":path: /urn:ietf:rfc:2648"
	for _, field := range []string{
		"Upper: a", "connection: close", "keep-alive: 1", "proxy-connection: close", "transfer-encoding: chunked",
		"upgrade: h2c", "te: gzip",
		"te: trailers, chunked",
		"x y: a", "x\r\ny: a", "x\x00: a", "x: a\r\nb: c", "x: a\nb", "x: a\x00b", ":status: 200", ":unknown: a",
		":path: /b", ":method: GET", "\xff: a", "content-length: -1", "content-length: 5",
	} {
		add(fmt.Sprintf("field %q", field), "RFC 9113 section 8.2", plain(field))
	}
	for _, method := range []string{"GET /", "G\rT", "GE\nT", "", "GE\x00T", "G T", "(", "GET\r\nX: y"} {
		add(fmt.Sprintf("method %q", method), "RFC 9113 section 8.3.1",
			header(":method: "+method, ":scheme: https", path, ":authority: a"))
	}
	for _, target := range []string{
		"", "urn:ietf:rfc:2648", absolute, "/a b", "/a\r\nX: y", "/a\x00",
		"/a HTTP/1.1\r\nHost: b\r\n\r\nGET /b", "*",
	} {
		add(fmt.Sprintf("path %q", target), "RFC 9113 section 8.3.1",
			header(":method: GET", ":scheme: https", ":path: "+target, ":authority: a"))
	}
	for _, authority := range []string{"a b", "a\r\nb", "a/b", "\x00"} {
		add(fmt.Sprintf("authority %q", authority), "RFC 9113 section 8.3.1",
			header(":method: GET", ":scheme: https", path, ":authority: "+authority))
	}
	add("no method", "RFC 9113 section 8.3.1", header(":scheme: https", path, ":authority: a"))
	add("no scheme", "RFC 9113 section 8.3.1", header(":method: GET", path, ":authority: a"))
	add("no path", "RFC 9113 section 8.3.1", header(":method: GET", ":scheme: https", ":authority: a"))
	add("a pseudo-header behind a field", "RFC 9113 section 8.3",
		header(":method: GET", "x: y", ":scheme: https", path, ":authority: a"))
	add("CONNECT with a path", "RFC 9113 section 8.5",
		header(":method: CONNECT", ":scheme: https", path, ":authority: a"))
	add("CONNECT", "RFC 9113 section 8.5", header(":method: CONNECT", ":authority: a:22"))
	return all
}
