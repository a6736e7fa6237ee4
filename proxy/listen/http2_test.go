package listen_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// openHTTP2 sends the preface by HTTP/2 to a server that is not asked for it by ALPN: it knows it by that.
func openHTTP2(conn io.ReadWriter) *http2.Framer {
	framer := http2.NewFramer(conn, conn)
	framer.AllowIllegalWrites = true
	_, _ = io.WriteString(conn, http2.ClientPreface)
	_ = framer.WriteSettings()
	return framer
}

// fields is the header block of a request.
func fields(method, path string) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, f := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", "a"}, {":path", path}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	return block.Bytes()
}

func writeRequest(f *http2.Framer, stream uint32) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: fields("GET", "/urn:example:a"), EndStream: true, EndHeaders: true})
}

func writeHeld(f *http2.Framer, stream uint32) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: fields("POST", "/held"), EndHeaders: true})
}

// writePart begins a header block.
func writePart(f *http2.Framer, stream uint32) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: fields("GET", "/urn:example:a"), EndStream: true})
}

// awaitSettings reads until the server has seen the settings of the client.
func awaitSettings(t testing.TB, f *http2.Framer) {
	t.Helper()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if settings, ok := frame.(*http2.SettingsFrame); ok && settings.IsAck() {
			return
		}
	}
}

// awaitEnd reads until the connection has ended, and returns the GOAWAY before that, nil for none.
func awaitEnd(t testing.TB, f *http2.Framer) (last *http2.GoAwayFrame) {
	t.Helper()
	for {
		frame, err := f.ReadFrame()
		if timedOut(err) {
			t.Fatal("the connection does not end")
		}
		if err != nil && !errors.As(err, new(http2.StreamError)) {
			return last
		}
		if frame, ok := frame.(*http2.GoAwayFrame); ok {
			copied := *frame
			last = &copied
		}
	}
}

// Frames that carry nothing end their connection after a number of them, by whatever frame and in whatever time: RFC 9113
// section 10.5. net/http answers them all.
func TestEndlessFrames(t *testing.T) {
	own, _ := certificates(t)
	const many = 1_000_000
	for _, tt := range []struct {
		name, section string
		most          int // frames before the end
		begin         func(*http2.Framer)
		next          func(f *http2.Framer, i int) error
	}{
		{"empty CONTINUATION", "6.10", 200, func(f *http2.Framer) { writePart(f, 1) }, func(f *http2.Framer, _ int) error {
			return f.WriteContinuation(1,
				false, nil)
		}},
		{"CONTINUATION with an octet", "6.10", 200, func(f *http2.Framer) { writePart(f, 1) }, func(f *http2.Framer,
			_ int,
		) error {
			return f.WriteContinuation(1, false, []byte{0x82})
		}},
		{"empty DATA", "6.1", 2000, func(f *http2.Framer) { writeHeld(f, 1) }, func(f *http2.Framer, _ int) error { return f.WriteData(1, false, nil) }},
		{"DATA that is padding", "6.1", 2000, func(f *http2.Framer) { writeHeld(f, 1) }, func(f *http2.Framer, _ int) error {
			return f.WriteDataPadded(1,
				false, nil, make([]byte, 3))
		}},
		{"PING", "6.7", 2000, nil, func(f *http2.Framer, _ int) error { return f.WritePing(false, [8]byte{}) }},
		{"PING that is answered", "6.7", 2000, nil, func(f *http2.Framer, _ int) error { return f.WritePing(true, [8]byte{}) }},
		{"empty SETTINGS", "6.5", 2000, nil, func(f *http2.Framer, _ int) error { return f.WriteSettings() }},
		{"PRIORITY", "6.3", 2000, nil, func(f *http2.Framer, _ int) error { return f.WritePriority(1, http2.PriorityParam{StreamDep: 3}) }},
		{"WINDOW_UPDATE", "6.9", 2000, nil, func(f *http2.Framer, _ int) error { return f.WriteWindowUpdate(0, 1) }},
		{"unknown frames", "4.1", 2000, nil, func(f *http2.Framer, _ int) error { return f.WriteRawFrame(0xee, 0, 0, nil) }},
		{"RST_STREAM of a stream that has ended", "6.4", 2000, func(f *http2.Framer) { writeHeld(f, 1) }, func(f *http2.Framer,
			_ int,
		) error {
			return f.WriteRSTStream(1, http2.ErrCodeCancel)
		}},
		{"requests that are reset", "5.4.2", 2000, nil, func(f *http2.Framer, i int) error {
			writeHeld(f, uint32(2*i+1))
			return f.WriteRSTStream(uint32(2*i+1), http2.ErrCodeCancel)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var seen atomic.Int64
			addr, _, _ := serveLimited(t, listen.ConnectionLimits{Connections: 10}, listen.SocketConfig{}, func(c *listen.ServerConfig) {
				c.TLS = own
				stopped := time.Now()
				c.Now = func() time.Time { seen.Add(1); return stopped } // it earns nothing by the time
				c.HeaderTimeout, c.IdleTimeout = time.Hour, time.Hour    // deadlines are by that clock, too
			})
			conn := newCaller(tls.Client(call(t, addr, "127.0.0.1").Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}))
			f := openHTTP2(conn)
			if tt.begin != nil {
				tt.begin(f)
			}
			sent := make(chan int, 1)
			go func() {
				i := 0
				for i < many && tt.next(f, i) == nil {
					i++
				}
				sent <- i
			}()
			end := awaitEnd(t, f)
			if n := <-sent; n == many {
				t.Errorf("all of %d frames are taken (RFC 9113 section %s)", n, tt.section)
			}
			if end != nil && end.ErrCode != http2.ErrCodeEnhanceYourCalm {
				t.Errorf("it ends by %v", end)
			}
		})
	}
}

// What clients do is no flood: large header blocks, windows that are opened as a response comes, streams that are reset, and
// a connection that is in use for long.
func TestLegalFrames(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	own, pool := certificates(t)
	const size = 8 << 20
	body := make([]byte, size)
	addr, _, _ := serveLimited(t, listen.ConnectionLimits{Connections: 10}, listen.SocketConfig{}, func(c *listen.ServerConfig) {
		c.TLS, c.MaxHeader = own, 64<<10
		stopped := time.Now()
		c.Now = func() time.Time { return stopped }
		c.HeaderTimeout, c.IdleTimeout = time.Hour, time.Hour // deadlines are by a clock that stands
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := io.Copy(io.Discard, r.Body)
			fmt.Fprintf(w, "%06d", n)
			_, _ = w.Write(body)
		})
	})
	c := client(t, pool, true)
	for range 3 {
		r, _ := http.NewRequest(http.MethodPost, "https://"+addr+"/", io.LimitReader(zeroes{}, 1<<20))
		r.Header.Set("X-Long", string(bytes.Repeat([]byte("x"), 50<<10)))
		response, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var read int64
		for n := int64(1); n > 0; { // a client that opens the window by little
			n, _ = io.CopyN(io.Discard, response.Body, 1<<10)
			read += n
		}
		if response.Body.Close(); read != size+7 {
			t.Errorf("%d octets of %d", read, size+7)
		}
	}
	for range 500 { // each is cancelled by RST_STREAM
		response, err := c.Get("https://" + addr + "/")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	conn := newCaller(tls.Client(call(t, addr, "127.0.0.1").Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}))
	f := openHTTP2(conn)
	block := fields("GET", "/")
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:1], EndStream: true})
	for i := 1; i < len(block); i++ {
		_ = f.WriteContinuation(1, i == len(block)-1, block[i:i+1])
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := frame.(*http2.HeadersFrame); ok {
			return
		}
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A header block by HTTP/2 has the time of a head, also where other streams keep its connection in use.
func TestHeaderTimeoutByHTTP2(t *testing.T) {
	own, _ := certificates(t)
	for name, part := range map[string]func(f *http2.Framer, conn io.Writer){
		"behind HEADERS": func(f *http2.Framer, _ io.Writer) { writePart(f, 3) },
		"within HEADERS": func(_ *http2.Framer, conn io.Writer) {
			_, _ = io.WriteString(conn, "\x00\x00\x40\x01\x05\x00\x00\x00\x03\x82")
		},
		"behind the frame": func(_ *http2.Framer, conn io.Writer) {
			_, _ = io.WriteString(conn, "\x00\x00\x40\x01\x05\x00\x00\x00\x03")
		},
	} {
		addr, limit, _ := serveLimited(t, listen.ConnectionLimits{Connections: 10}, listen.SocketConfig{}, func(c *listen.ServerConfig) {
			c.TLS, c.HeaderTimeout = own, 300*time.Millisecond
		})
		conn := newCaller(tls.Client(call(t, addr, "127.0.0.1").Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}))
		f := openHTTP2(conn)
		writeHeld(f, 1)
		part(f, conn)
		testserver.Wait(t, name+" the connection ends", func() bool { return limit.Open() == 0 })
	}
}

// Who is closed for another client by HTTP/2 learns that his next request was not looked at: RFC 9113 section 6.8.
func TestLimitSendsGoAway(t *testing.T) {
	own, _ := certificates(t)
	addr, _, _ := serveLimited(t, listen.ConnectionLimits{Connections: 1}, listen.SocketConfig{}, func(c *listen.ServerConfig) { c.TLS = own })
	f := http2Idle(t, call(t, addr, "127.0.0.1"))
	other := newCaller(tls.Client(call(t, addr, "127.0.0.1").Conn, &tls.Config{InsecureSkipVerify: true}))
	if !other.ask() {
		t.Fatal("the new one is not served")
	}
	if end := awaitEnd(t, f); end == nil || end.LastStreamID != 1 || end.ErrCode != http2.ErrCodeNo {
		t.Errorf("it ends by %v", end)
	}
}

// A client may send 256 KiB by HTTP/2 that nobody reads, by all streams of a connection: RFC 9113 sections 6.5.2 and 6.9.
func TestReceiveBufferByHTTP2(t *testing.T) {
	const want, initial = 256 << 10, 65_535
	own, _ := certificates(t)
	addr, _, _ := serveLimited(t, listen.ConnectionLimits{Connections: 1}, listen.SocketConfig{}, func(c *listen.ServerConfig) { c.TLS = own })
	f := openHTTP2(tls.Client(call(t, addr, "127.0.0.1").Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}))
	stream, connection := uint32(initial), uint32(initial)
	for connection == initial {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if window, ok := frame.Value(http2.SettingInitialWindowSize); ok {
				stream = window
			}
		case *http2.WindowUpdateFrame:
			connection += frame.Increment
		}
	}
	if stream != want || connection != want {
		t.Errorf("the windows are %d and %d, want %d", stream, connection, want)
	}
}

// A connection by HTTP/2 without streams ends at the idle timeout, whatever else its client sends, and one whose client
// sends no preface at the header timeout.
func TestIdleByHTTP2(t *testing.T) {
	own, _ := certificates(t)
	addr, limit, _ := serveLimited(t, listen.ConnectionLimits{Connections: 10}, listen.SocketConfig{}, func(c *listen.ServerConfig) {
		c.TLS, c.IdleTimeout, c.HeaderTimeout = own, 200*time.Millisecond, 200*time.Millisecond
	})
	f := http2Idle(t, call(t, addr, "127.0.0.1"))
	for range 100 {
		_ = f.WritePing(false, [8]byte{})
	}
	if end := awaitEnd(t, f); end == nil || end.ErrCode != http2.ErrCodeNo {
		t.Errorf("it ends by %v", end)
	}
	for _, part := range []string{"PRI * HT", http2.ClientPreface[:20]} {
		conn := tls.Client(call(t, addr, "127.0.0.1").Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		_, _ = io.WriteString(conn, part)
	}
	testserver.Wait(t, "all have ended", func() bool { return limit.Open() == 0 })
}
