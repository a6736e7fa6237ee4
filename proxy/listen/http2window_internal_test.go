package listen

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/testserver"
)

// No part of a window is lost, and net/http knows of enough of it in any case: RFC 9113 section 6.9.
func TestWindows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		w := windows{known: initialWindow}
		whole, told := int64(initialWindow), int64(initialWindow)
		for range 100 {
			switch random.IntN(3) {
			case 0:
				n := 1 + random.Int64N(1<<random.IntN(30))
				more, ok := w.add(n)
				if ok != (whole+n <= maxWindow) {
					t.Fatalf("%d and %d: %t", whole, n, ok)
				}
				if ok {
					whole, told = whole+n, told+more
				}
			case 1:
				n := random.Int64N(w.reserved + 1)
				w.use(n)
				whole -= n
			case 2:
				n := random.Int64N(w.known - w.due + 1)
				whole, told = whole-n, told-n
				w.sent(n)
				if random.IntN(2) == 0 {
					told += w.takeDue()
				}
			}
			if w.known+w.reserved != whole || told+w.due != w.known || w.known < 0 || w.reserved < 0 || w.due < 0 || w.known < min(whole, initialWindow) {
				t.Fatalf("of %d with %d told: %+v", whole, told, w)
			}
		}
	}
}

// roomPath answers /small with a content, if there is room for that.
type roomPath struct{ answered, left atomic.Int64 }

const small = 1000

func (p *roomPath) AnswerFast(c *FastConn, octets []byte) (used int) {
	if !bytes.HasPrefix(octets, []byte("GET /small ")) {
		return 0
	}
	if c.Room() < small {
		p.left.Add(1)
		return 0
	}
	p.answered.Add(1)
	_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", small, strings.Repeat("s", small))
	return len(octets)
}

func (*roomPath) ServePlain(*FastConn, []byte) int { return 0 }

// answerSize answers with as many octets as the path says.
func answerSize(w http.ResponseWriter, r *http.Request) {
	size, err := strconv.Atoi(r.URL.Path[1:])
	if err != nil {
		size = small
	}
	_, _ = io.CopyN(w, zeros{}, int64(size))
}

// windowClient is a client that counts what it has left of its window.
type windowClient struct {
	t      *testing.T
	conn   *tls.Conn
	framer *http2.Framer
	whole  int64 // of the window
	window int64
	lots   int64 // when it has used so much, it opens the window again
	stream uint32
	open   map[uint32]int // octets to come
	block  bytes.Buffer
}

func (c *windowClient) ask(path string, size int) {
	c.block.Reset()
	encoder := hpack.NewEncoder(&c.block)
	encoder.SetMaxDynamicTableSize(0)
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "a"}, {":path", path}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	c.stream += 2
	c.open[c.stream] = size
	p := http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: c.block.Bytes(), EndStream: true, EndHeaders: true}
	if err := c.framer.WriteHeaders(p); err != nil {
		c.t.Fatal(err)
	}
}

// read reads a frame.
func (c *windowClient) read() {
	f, err := c.framer.ReadFrame()
	if err != nil {
		c.t.Fatalf("with %d of the window left and %v open: %v", c.window, c.open, err)
	}
	switch f := f.(type) {
	case *http2.DataFrame:
		n := int64(f.Length)
		if c.window -= n; c.window < 0 {
			c.t.Fatalf("the window is exceeded by %d", -c.window)
		}
		c.open[f.StreamID] -= int(n)
		if f.StreamEnded() {
			if c.open[f.StreamID] != 0 {
				c.t.Fatalf("stream %d ends with %d octets to come", f.StreamID, c.open[f.StreamID])
			}
			delete(c.open, f.StreamID)
		}
		if used := c.whole - c.window; used >= c.lots {
			c.window += used
			_ = c.framer.WriteWindowUpdate(0, uint32(used))
		}
	case *http2.GoAwayFrame, *http2.RSTStreamFrame:
		c.t.Fatalf("%v", f)
	}
}

// The window of the connection is never exceeded, and is used up, whenever a client opens it again.
func TestWindowsOfConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	path := new(roomPath)
	s := serveFast(t, func(s *fastServer, c *ServerConfig) {
		overTLS(s, c)
		s.secure.NextProtos = []string{"h2"}
		c.FastPath, c.Handler = path, http.HandlerFunc(answerSize)
	})
	for _, whole := range []int64{initialWindow, 70_000, 200_000, 1 << 20, 15 << 20} {
		for _, share := range []float64{0, 0.5, 0.9, 1} {
			t.Run(fmt.Sprintf("%d, %v", whole, share), func(t *testing.T) {
				conn, err := tls.Dial("tcp", s.listener.Addr().String(), s.secure)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(testserver.Patience))
				c := &windowClient{
					t: t, conn: conn, framer: http2.NewFramer(conn, conn), whole: whole, window: whole,
					lots: max(1, int64(share*float64(whole))), stream: 1<<32 - 1, open: map[uint32]int{},
				}
				_, _ = io.WriteString(conn, http2.ClientPreface)
				_ = c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30})
				if whole > initialWindow {
					_ = c.framer.WriteWindowUpdate(0, uint32(whole-initialWindow))
				}
				random := rand.New(rand.NewPCG(uint64(whole), 1))
				for asked := 0; asked < 300 || len(c.open) > 0; {
					for asked < 300 && len(c.open) < 20 {
						asked++
						if size := random.IntN(300_000); asked%5 == 0 {
							c.ask("/"+strconv.Itoa(size), size)
						} else {
							c.ask("/small", small)
						}
					}
					c.read()
				}
			})
		}
	}
	const least = 500
	t.Logf("%d are answered, and %d had no room", path.answered.Load(), path.left.Load())
	if n := path.answered.Load(); n < least {
		t.Errorf("%d are answered", n)
	}
}
