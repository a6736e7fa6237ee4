package http2_test

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	framing "golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http2"
)

// waiting waits for the end of its stream.
func waiting(_ *httpmessage.Incoming, w writer) { <-w.Context().Done() }

// Frames that cost the server more than the client are limited: RFC 9113 section 10.5.
func TestFloods(t *testing.T) {
	t.Parallel()
	const many = 20_000
	held := func(c *client) { _ = c.askOn(1, false, post("/")...) }
	for _, tt := range []struct {
		name, section string
		begin         func(c *client)
		next          func(c *client, i uint32) error
	}{
		{"CONTINUATION", "6.10", func(c *client) {
			_ = c.WriteHeaders(framing.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x82}})
		}, func(c *client, _ uint32) error { return c.WriteContinuation(1, false, []byte{0x82}) }},
		{"empty CONTINUATION", "6.10", func(c *client) {
			_ = c.WriteHeaders(framing.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x82}})
		}, func(c *client, _ uint32) error { return c.WriteContinuation(1, false, nil) }},
		{"empty DATA", "6.1", held, func(c *client, _ uint32) error { return c.WriteData(1, false, nil) }},
		{
			"DATA that is padding", "6.1", held,
			func(c *client, _ uint32) error { return c.WriteDataPadded(1, false, nil, make([]byte, 3)) },
		},
		{
			"DATA of a stream that has ended", "5.1",
			func(c *client) { c.ask(true, get("/end")...) }, func(c *client, _ uint32) error {
				return c.WriteData(1, false, []byte("x"))
			},
		},
		{"PING", "6.7", nil, func(c *client, _ uint32) error { return c.WritePing(false, [8]byte{}) }},
		{"PING that is answered", "6.7", nil, func(c *client, _ uint32) error { return c.WritePing(true, [8]byte{}) }},
		{"empty SETTINGS", "6.5", nil, func(c *client, _ uint32) error { return c.WriteSettings() }},
		{"SETTINGS of windows", "6.9.2", held, func(c *client, i uint32) error { return c.WriteSettings(window(i)) }},
		{"SETTINGS ACK", "6.5.3", nil, func(c *client, _ uint32) error { return c.WriteSettingsAck() }},
		{
			"PRIORITY", "6.3", nil,
			func(c *client, _ uint32) error { return c.WritePriority(1, framing.PriorityParam{StreamDep: 3}) },
		},
		{
			"PRIORITY_UPDATE", "RFC 9218 section 7", nil,
			func(c *client, _ uint32) error { return c.WritePriorityUpdate(1, "u=1") },
		},
		{"WINDOW_UPDATE", "6.9", nil, func(c *client, _ uint32) error { return c.WriteWindowUpdate(0, 1) }},
		{
			"WINDOW_UPDATE of a stream", "6.9", held,
			func(c *client, _ uint32) error { return c.WriteWindowUpdate(1, 1) },
		},
		{"unknown frames", "4.1", nil, func(c *client, _ uint32) error { return c.WriteRawFrame(0xee, 0, 0, nil) }},
		{
			"RST_STREAM of a stream that has ended", "6.4", held,
			func(c *client, _ uint32) error { return c.WriteRSTStream(1, framing.ErrCodeCancel) },
		},
		{"requests that are reset", "5.4.2", nil, func(c *client, i uint32) error {
			_ = c.askOn(2*i+1, true, get("/")...)
			return c.WriteRSTStream(2*i+1, framing.ErrCodeCancel)
		}},
		{"requests that the server must reset: a window by 0", "CVE-2025-8671", nil, func(c *client, i uint32) error {
			_ = c.askOn(2*i+1, true, get("/")...)
			return c.WriteWindowUpdate(2*i+1, 0)
		}},
		{
			"requests that the server must reset: a window too large", "CVE-2025-8671", nil,
			func(c *client, i uint32) error {
				_ = c.askOn(2*i+1, true, get("/")...)
				return c.WriteWindowUpdate(2*i+1, 1<<31-1)
			},
		},
		{
			"requests that the server must reset: DATA behind the end", "CVE-2025-8671", nil,
			func(c *client, i uint32) error {
				_ = c.askOn(2*i+1, true, get("/")...)
				return c.WriteData(2*i+1, false, []byte("x"))
			},
		},
		{
			"requests that the server must reset: HEADERS behind the end", "CVE-2025-8671", nil,
			func(c *client, i uint32) error {
				_ = c.askOn(2*i+1, true, get("/")...)
				_ = c.askOn(2*i+1, true, "x: y")
				return c.WriteSettingsAck()
			},
		},
		{"malformed requests", "8.1.1", nil, func(c *client, i uint32) error {
			return c.askOn(2*i+1, true, get("/", "X: y")...)
		}},
		{"requests that are refused", "8.1.1", nil, func(c *client, i uint32) error {
			return c.askOn(2*i+1, true, get("/", "connection: close")...)
		}},
		{
			"streams above the limit", "5.1.2", nil,
			func(c *client, i uint32) error { return c.askOn(2*i+1, true, get("/")...) },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, later(func(r *httpmessage.Incoming, w writer) {
				if r.Target != "/end" {
					waiting(r, w)
				}
			}), nil)
			s.client.out.resize(4 << 10)
			s.client.in.resize(64 << 10)
			c := s.open(t)
			if tt.begin != nil {
				tt.begin(c)
			}
			end := make(chan string, 1)
			go func() {
				for {
					frame, err := c.ReadFrame()
					if err != nil {
						end <- ""
						return
					}
					if f, ok := frame.(*framing.GoAwayFrame); ok {
						end <- f.ErrCode.String()
						return
					}
				}
			}()
			i := uint32(0)
			for i < many && tt.next(c, i) == nil {
				i++
				select {
				case code := <-end:
					if code != "ENHANCE_YOUR_CALM" && code != "" {
						t.Errorf("it ends by %s", code)
					}
					if i > 5000 {
						t.Errorf("behind %d frames", i)
					}
					return
				default:
				}
			}
			within(t, "the connection", func() {
				if code := <-end; code != "ENHANCE_YOUR_CALM" && code != "" {
					t.Errorf("it ends by %s", code)
				}
			})
			if i == many {
				t.Errorf("all of %d frames are taken (%s)", i, tt.section)
			}
		})
	}
}

// Legitimate behavior is not a flood: window updates as a response arrives, resets of streams, and many small
// requests.
func TestNoFloods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, playNoFlood)
}

func playNoFlood(t *testing.T) {
	large := make([]byte, 8<<20)
	s := serve(t, handler{begin: func(r *httpmessage.Incoming, w writer) bool {
		if r.Target == "/small" {
			plain(r, w)
		}
		return r.Target == "/small"
	}, next: func(r *httpmessage.Incoming, w writer) {
		_, _ = w.Write(large)
	}}, nil)
	c := s.open(t)
	id := c.ask(true, get("/large")...)
	for n := 0; n < 8<<20; {
		frame, err := c.ReadFrame()
		if err != nil {
			t.Fatalf("behind %d bytes: %v", n, err)
		}
		if f, ok := frame.(*framing.DataFrame); ok {
			n += len(f.Data())
			for left := len(f.Data()); left > 0; left -= 2048 { // a client that opens the window in small steps
				_ = c.WriteWindowUpdate(id, uint32(min(left, 2048)))
				_ = c.WriteWindowUpdate(0, uint32(min(left, 2048)))
			}
		}
	}
	for range 5000 {
		id := c.ask(true, get("/small")...)
		if a := c.receive(id); a.status != "200" {
			t.Fatalf("%v", a)
		}
		_ = c.WriteWindowUpdate(0, 100)
		_ = c.WritePing(false, [8]byte{})
	}
	for range 900 {
		_ = c.WriteRSTStream(c.ask(true, get("/large")...), framing.ErrCodeCancel)
	}
	_ = c.WriteWindowUpdate(0, 1<<30) // it may be used up
	if a := c.receive(c.ask(true, get("/small")...)); a.status != "200" {
		t.Errorf("%v", a)
	}
}

// A client has at most as many running handlers as it may have streams, even if it has reset their streams.
func TestStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		release := make(chan struct{})
		s := serve(t, later(func(r *httpmessage.Incoming, w writer) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			<-release
		}), func(c *http2.Config) { c.MaxConcurrentStreams = 10 })
		c := s.open(t)
		var ids []uint32
		for range 12 {
			ids = append(ids, c.ask(true, get("/")...))
		}
		for _, id := range ids[10:] {
			if a := c.receive(id); a.code != "REFUSED_STREAM" {
				t.Errorf("%v", a)
			}
		}
		for _, id := range ids[:10] {
			_ = c.WriteRSTStream(id, framing.ErrCodeCancel)
		}
		for range 10 {
			ids = append(ids, c.ask(true, get("/")...))
		}
		synctest.Wait()
		if most.Load() != 10 {
			t.Errorf("%d handlers", most.Load())
		}
		close(release)
		for range ids[12:] {
			if a := c.receiveAny(); a.status != "200" {
				t.Errorf("%v", a)
			}
		}
	})
}

// A client that does not read is not read any more when too much output is pending, however it fragments its writes.
func TestQueuedFrames(t *testing.T) {
	t.Parallel()
	for _, packets := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, atOnce(func(_ *httpmessage.Incoming, w writer) { w.WriteHeader(304, "", nil) }), nil)
			s.client.in.resize(1)
			c := s.open(t)
			unread := func() int {
				synctest.Wait()
				s.client.out.mu.Lock()
				defer s.client.out.mu.Unlock()
				return len(s.client.out.bytes)
			}
			sent := 0
			for ; sent < 100_000; sent++ {
				c.ask(true, get("/")...)
				if packets && unread() > 0 {
					break
				}
			}
			if packets && sent == 100_000 || unread() == 0 {
				t.Error("all requests are read")
			}
		})
	}
}

// The first frames, and a field block, have the header timeout; the settings must be acknowledged: RFC 9113
// sections 3.4 and 6.5.3.
func TestHeaderTimeout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		send       func(c *client)
	}{
		{"nothing", "GOAWAY ENHANCE_YOUR_CALM", func(*client) {}},
		{
			"a part of the preface", "GOAWAY ENHANCE_YOUR_CALM",
			func(c *client) { _, _ = io.WriteString(c.conn, "PRI * HT") },
		},
		{
			"another preface", "GOAWAY PROTOCOL_ERROR",
			func(c *client) { _, _ = io.WriteString(c.conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") },
		},
		{"another first frame", "GOAWAY PROTOCOL_ERROR", func(c *client) {
			_, _ = io.WriteString(c.conn, framing.ClientPreface)
			_ = c.WritePing(false, [8]byte{})
		}},
		{"settings that are not acknowledged", "GOAWAY SETTINGS_TIMEOUT", func(c *client) {
			_, _ = io.WriteString(c.conn, framing.ClientPreface)
			_ = c.WriteSettings()
			_ = c.askOn(1, true, get("/wait")...)
		}},
		{"a part of a block", "GOAWAY ENHANCE_YOUR_CALM", func(c *client) {
			begin(c)
			_ = c.WriteHeaders(framing.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0x82}})
		}},
		{"a part of HEADERS", "GOAWAY ENHANCE_YOUR_CALM", func(c *client) {
			begin(c)
			_, _ = io.WriteString(c.conn, "\x00\x00\x40\x01\x05\x00\x00\x00\x03\x82")
		}},
		{"the head of HEADERS", "GOAWAY ENHANCE_YOUR_CALM", func(c *client) {
			begin(c)
			_, _ = io.WriteString(c.conn, "\x00\x00\x40\x01\x05\x00\x00\x00\x03")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s := serve(t, later(waiting), nil)
				c := newClient(t, s.client)
				tt.send(c)
				a := c.receive(99)
				if a.code != tt.want {
					t.Errorf("%v", a)
				}
				if took := time.Since(start); took > 11*time.Second {
					t.Errorf("behind %s", took)
				}
				<-s.ended
			})
		})
	}
}

// begin starts a connection with a waiting stream.
func begin(c *client) {
	_, _ = io.WriteString(c.conn, framing.ClientPreface)
	_ = c.WriteSettings()
	_ = c.WriteSettingsAck()
	_ = c.askOn(1, true, get("/wait")...)
}

// Frames that RFC 9113 forbids end the connection, or a stream.
func TestForbiddenFrames(t *testing.T) {
	t.Parallel()
	raw := func(length int, kind framing.FrameType, flags byte, stream uint32, payload string) func(c *client) {
		return func(c *client) {
			head := []byte{byte(length >> 16), byte(length >> 8), byte(length), byte(kind), flags}
			head = append(head, 0, 0, 0, byte(stream))
			_, _ = c.conn.Write(append(head, payload...))
		}
	}
	const protocol, size = "GOAWAY PROTOCOL_ERROR", "GOAWAY FRAME_SIZE_ERROR"
	for _, tt := range []struct {
		name, section, want string
		send                func(c *client)
	}{
		{"DATA on stream 0", "6.1", protocol, raw(1, framing.FrameData, 0, 0, "x")},
		{"HEADERS on stream 0", "6.2", protocol, raw(1, framing.FrameHeaders, 4, 0, "\x82")},
		{"RST_STREAM on stream 0", "6.4", protocol, raw(4, framing.FrameRSTStream, 0, 0, "\x00\x00\x00\x08")},
		{"SETTINGS on stream 1", "6.5", protocol, raw(0, framing.FrameSettings, 0, 1, "")},
		{"PING on stream 1", "6.7", protocol, raw(8, framing.FramePing, 0, 1, "12345678")},
		{"GOAWAY on stream 1", "6.8", protocol, raw(8, framing.FrameGoAway, 0, 1, "12345678")},
		{"DATA on an idle stream", "5.1", protocol, raw(1, framing.FrameData, 0, 5, "x")},
		{"RST_STREAM on an idle stream", "5.1", protocol, raw(4, framing.FrameRSTStream, 0, 5, "\x00\x00\x00\x08")},
		{
			"WINDOW_UPDATE on an idle stream", "5.1", protocol,
			raw(4, framing.FrameWindowUpdate, 0, 5, "\x00\x00\x00\x08"),
		},
		{
			"WINDOW_UPDATE on a stream of the server", "5.1", protocol,
			raw(4, framing.FrameWindowUpdate, 0, 2, "\x00\x00\x00\x08"),
		},
		{"SETTINGS of 5 bytes", "6.5", size, raw(5, framing.FrameSettings, 0, 0, "12345")},
		{"SETTINGS ACK with content", "6.5", size, raw(6, framing.FrameSettings, 1, 0, "\x00\x01\x00\x00\x00\x00")},
		{"PING of 7 bytes", "6.7", size, raw(7, framing.FramePing, 0, 0, "1234567")},
		{"WINDOW_UPDATE of 3 bytes", "6.9", size, raw(3, framing.FrameWindowUpdate, 0, 0, "123")},
		{"RST_STREAM of 5 bytes", "6.4", size, raw(5, framing.FrameRSTStream, 0, 1, "12345")},
		{"a frame of 16 MiB", "4.2", size, raw(1<<24-1, framing.FrameData, 0, 1, "x")},
		{"HEADERS of 16 KiB and one", "4.2", size, raw(16<<10+1, framing.FrameHeaders, 4, 3, "x")},
		{"an even stream", "5.1.1", protocol, func(c *client) { _ = c.askOn(2, true, get("/")...) }},
		{"a reused stream identifier", "5.1.1", "GOAWAY STREAM_CLOSED", func(c *client) {
			_ = c.askOn(5, true, get("/")...)
			c.receive(5)
			_ = c.askOn(5, true, get("/")...)
		}},
		{"HEADERS behind RST_STREAM of both", "5.1", "GOAWAY STREAM_CLOSED", func(c *client) {
			_ = c.askOn(5, false, post("/end", "content-length: 100000")...) // it is answered, and reset
			if a := c.receive(5); a.status != "200" {
				c.t.Errorf("%v", a)
			}
			_ = c.WriteRSTStream(5, framing.ErrCodeCancel)
			_ = c.askOn(5, true, get("/")...)
		}},
		{"push enabled by 2", "6.5.2", protocol, raw(6, framing.FrameSettings, 0, 0, "\x00\x02\x00\x00\x00\x02")},
		{"frames of 1 byte", "6.5.2", protocol, raw(6, framing.FrameSettings, 0, 0, "\x00\x05\x00\x00\x00\x01")},
		{"an unknown setting", "6.5.2", "", raw(6, framing.FrameSettings, 0, 0, "\x00\x99\x00\x00\x00\x01")},
		{"PUSH_PROMISE", "8.4", protocol, raw(5, framing.FramePushPromise, 4, 1, "\x00\x00\x00\x02\x82")},
		{"CONTINUATION alone", "6.10", protocol, raw(1, framing.FrameContinuation, 4, 1, "\x82")},
		{"PING in a block", "6.10", protocol, func(c *client) {
			raw(1, framing.FrameHeaders, 1, 3, "\x82")(c)
			_ = c.WritePing(false, [8]byte{})
		}},
		{"CONTINUATION of another stream", "6.10", protocol, func(c *client) {
			raw(1, framing.FrameHeaders, 1, 3, "\x82")(c)
			raw(1, framing.FrameContinuation, 4, 5, "\x82")(c)
		}},
		{"padding longer than DATA", "6.1", protocol, raw(2, framing.FrameData, 8, 1, "\xff\x00")},
		{"padding longer than HEADERS", "6.2", protocol, raw(3, framing.FrameHeaders, 0xd, 3, "\xff\x82\x84")},
		{"padding without a length", "6.2", protocol, raw(0, framing.FrameHeaders, 0xd, 3, "")},
		{"a priority without room", "6.2", protocol, raw(2, framing.FrameHeaders, 0x25, 3, "\x00\x00")},
		{
			"an index beyond the table", "4.3", "GOAWAY COMPRESSION_ERROR",
			raw(3, framing.FrameHeaders, 5, 3, "\xff\x80\x01"),
		},
		{"the index 0", "4.3", "GOAWAY COMPRESSION_ERROR", raw(1, framing.FrameHeaders, 5, 3, "\x80")},
		{"a block cut off", "4.3", "GOAWAY COMPRESSION_ERROR", raw(3, framing.FrameHeaders, 5, 3, "\x82\x04\x7f")},
		{
			"a table that is too large", "4.3", "GOAWAY COMPRESSION_ERROR",
			raw(5, framing.FrameHeaders, 5, 3, "\x3f\xff\xff\xff\x07"),
		},
		{
			"an integer without end", "4.3", "GOAWAY COMPRESSION_ERROR",
			raw(12, framing.FrameHeaders, 5, 3, strings.Repeat("\xff", 12)),
		},
		{
			"a Huffman code with EOS", "4.3", "GOAWAY COMPRESSION_ERROR",
			raw(7, framing.FrameHeaders, 5, 3, "\x40\x84\xff\xff\xff\xff\x00"),
		},
		{"a bomb", "10.5.1", "", func(c *client) {
			block := append([]byte{}, c.encode(get("/", "x-bomb: "+strings.Repeat("a", 3000))...)...)
			block = append(block, strings.Repeat("\xbe", 10_000)...)
			_ = c.WriteHeaders(framing.HeadersFrameParam{
				StreamID: 3, BlockFragment: block, EndStream: true, EndHeaders: true,
			})
			if a := c.receive(3); a.status != "431" {
				c.t.Errorf("a bomb: %v", a)
			}
		}},
		{"a smaller table of the server", "RFC 7541 section 4.2", "", func(c *client) {
			_ = c.WriteSettings(framing.Setting{ID: framing.SettingHeaderTableSize})
			c.ReadMetaHeaders.SetAllowedMaxDynamicTableSize(0)
		}},
		{"a priority", "5.3.2", "", func(c *client) { _ = c.WritePriority(3, framing.PriorityParam{StreamDep: 1}) }},
		{"a priority update", "RFC 9218 section 7.1", "", func(c *client) { _ = c.WritePriorityUpdate(3, "u=1") }},
		{"an unknown frame", "4.1", "", raw(1, 0xbe, 0xff, 1, "x")},
		{"GOAWAY", "6.8", "", func(c *client) { _ = c.WriteGoAway(0, framing.ErrCodeNo, nil) }},
		{"WINDOW_UPDATE on a stream that has ended", "5.1", "", func(c *client) {
			_ = c.askOn(3, true, get("/end")...)
			c.receive(3)
			_ = c.WriteWindowUpdate(3, 1)
			_ = c.WriteRSTStream(3, framing.ErrCodeCancel)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, later(func(r *httpmessage.Incoming, w writer) {
				if r.Target == "/wait" {
					waiting(r, w)
				}
				plain(r, w)
			}), nil).open(t)
			_ = c.askOn(1, false, post("/wait")...)
			tt.send(c)
			_ = c.askOn(99, true, get("/")...)
			want := tt.want
			if want == "" {
				want = "200"
			}
			if a := c.receive(99); a.status+a.code != want {
				t.Errorf("%s, want %s (RFC 9113 section %s)", fmt.Sprint(a), want, tt.section)
			}
		})
	}
}
