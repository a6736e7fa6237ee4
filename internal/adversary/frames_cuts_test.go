package adversary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"golang.org/x/net/http2"
)

// cut is a way to end a connection by the client.
type cut struct {
	name string
	end  func(conn net.Conn)
	half bool // urnd must end it, too
}

// cuts are the ways in which a client disconnects: RFC 9112 section 9.6, RFC 8446 section 6.1 and RFC 9293
// section 3.6.
func cuts() []cut {
	return []cut{
		{"a close", func(conn net.Conn) { _ = conn.Close() }, false},
		{"a reset", func(conn net.Conn) {
			tcp := conn
			if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
				tcp = secure.NetConn()
			}
			_ = tcp.(*net.TCPConn).SetLinger(0)
			_ = tcp.Close()
		}, false},
		{"a half-close", func(conn net.Conn) { _ = conn.(interface{ CloseWrite() error }).CloseWrite() }, true},
	}
}

// apply ends a connection, and returns an error if urnd does not end it as well when required.
func (end cut) apply(conn net.Conn) error {
	end.end(conn)
	if !end.half {
		return nil
	}
	_, err := io.Copy(io.Discard, conn)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("it stays open: %w", err)
	}
	return nil
}

// atEachByte cuts a dialogue at each of its bytes, or at every step-th, over a separate connection.
func atEachByte(
	ctx context.Context, text string, step int, end cut, dial func(context.Context) (net.Conn, error),
) error {
	var next atomic.Int64
	failed := make(chan error, 1)
	many(8, func(int) {
		for len(failed) == 0 {
			n := int(next.Add(1)-1) * step
			if n > len(text) {
				return
			}
			conn, err := dial(ctx)
			if err == nil {
				_, _ = io.WriteString(conn, text[:n])
				err = end.apply(conn)
				_ = conn.Close()
			}
			if err != nil {
				select {
				case failed <- fmt.Errorf("behind %d bytes: %w", n, err):
				default:
				}
			}
		}
	})
	close(failed)
	return <-failed
}

// frameCuts end a short HTTP/2 dialogue at each of its bytes.
func (s *stage) frameCuts() []payload {
	text := dialogueOfHTTP2()
	var payloads []payload
	for _, end := range cuts() {
		name := end.name + " at each byte"
		payloads = append(payloads, s.attacked(name, "RFC 9113 section 5.4", func(ctx context.Context) error {
			return atEachByte(ctx, text, 1, end, func(ctx context.Context) (net.Conn, error) {
				return connectTLSFrom(ctx, s.tls, s.attacker(), "h2")
			})
		}))
	}
	whole := s.attacked("a record for each byte", "RFC 8446 section 5.1", func(ctx context.Context) error {
		c, err := s.dialHTTP2(ctx, s.attacker())
		if err != nil {
			return err
		}
		defer c.conn.Close()
		go c.hear()
		for i := range text {
			if _, err := io.WriteString(c.conn, text[i:i+1]); err != nil {
				return err
			}
		}
		if err := c.await(ctx, func(h *heard) bool { return h.done(1) && h.done(3) }); err != nil {
			return err
		}
		if !c.now(func(h *heard) bool { return h.status[1] == 200 && h.status[3] == 200 && h.bytes[3] == 1<<10 }) {
			return errors.New(c.String())
		}
		return nil
	})
	return inFamily("frames: cuts", append(payloads, whole))
}

// dialogueOfHTTP2 is an upload with padding and a trailer, and a request in two frames.
func dialogueOfHTTP2() string {
	var b bytes.Buffer
	b.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&b, nil)
	_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
	_ = framer.WriteSettingsAck()
	_ = framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: postBlock("/p/cut", "trailer: x-end"), EndHeaders: true, PadLength: 3,
		Priority: http2.PriorityParam{StreamDep: 5},
	})
	_ = framer.WriteDataPadded(1, false, []byte("some content"), []byte{0, 0})
	_ = framer.WriteWindowUpdate(0, 100)
	_ = framer.WriteHeaders(
		http2.HeadersFrameParam{StreamID: 1, BlockFragment: header("x-end: 1"), EndStream: true, EndHeaders: true},
	)
	block := getBlock("/small")
	_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: block[:5], EndStream: true})
	_ = framer.WriteContinuation(3, true, block[5:])
	_ = framer.WritePing(false, [8]byte{})
	return b.String()
}
