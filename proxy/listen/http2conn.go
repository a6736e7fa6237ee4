package listen

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// http2Conn follows the frames of a connection by HTTP/2 in both directions, below net/http and above TLS. net/http bounds
// neither the frames of a header block nor those that carry nothing, and says that a connection is idle before its last
// response is sent.
type http2Conn struct {
	conn *requestConn

	writing sync.Mutex // held while the connection is written to

	mu            sync.Mutex
	in, out       frameScanner
	open          map[uint32]http2Stream // streams without the end of their response
	initial       int64                  // the window of a new stream: RFC 9113 section 6.9.2
	last          uint32                 // the client's last stream
	known         uint32                 // the last one that net/http has answered on
	continuations int                    // of the header block
	empty         *rate.Limiter          // of frames that carry nothing
	extra         int64                  // those beyond that rate
	earned        int64                  // how many of these the client may send for its answers
	sent          int64                  // octets
	timed         bool                   // a header block has a deadline
	deadline      time.Time              // of reads
	ended         atomic.Bool            // the client sends nothing more
	isEnding      bool                   // streams that cannot end have a deadline
	// hasSettings and goesAway are whether net/http has sent its settings, and GOAWAY.
	hasSettings, goesAway bool
	windows               windows
	isWaking              bool // see wake

	dispatcher *http2Dispatcher // that net/http reads by
}

// prefaceRest is the number of octets of the preface behind its first line: RFC 9113 section 3.4.
const prefaceRest = len("\r\nSM\r\n\r\n")

func newHTTP2Conn(c *requestConn) *http2Conn {
	h := &http2Conn{conn: c, empty: rate.NewLimiter(emptyPerSecond, emptyAtOnce), open: make(map[uint32]http2Stream)}
	h.in.left = prefaceRest
	h.windows.known, h.initial = initialWindow, initialWindow
	h.dispatcher = newHTTP2Dispatcher(h, c.fast)
	return h
}

// A client may send so many frames that carry nothing at once, then so many a second, and others for what it gets: it
// opens windows for that, and closes streams. A browser that leaves a page resets all of its streams.
const (
	emptyAtOnce     = 1000
	emptyPerSecond  = 100
	emptyPerAnswer  = 4
	octetsPerUpdate = 1 << 10
)

// A header block has so many CONTINUATION frames, and one more for each KiB that a header may have: others send full
// frames of 16 KiB.
const (
	continuationsAtLeast = 16
	octetsPerPart        = 1 << 10
)

var (
	errContinuations = errors.New("a header block by HTTP/2 has too many CONTINUATION frames")
	errEmptyFrames   = errors.New("a client by HTTP/2 sends too many frames that carry nothing")
)

// read is called with what was read, and the error of that.
func (h *http2Conn) read(p []byte, err error) (int, error) {
	if len(p) == 0 {
		h.left()
		return 0, err
	}
	if failed := h.received(p); failed != nil {
		return 0, failed
	}
	return len(p), err
}

// received looks at what was read, before net/http does. An error ends the connection: RFC 9113 section 10.5.
func (h *http2Conn) received(p []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.last
	for f, rest, ok := h.in.next(p); ok; f, rest, ok = h.in.next(rest) {
		if err := h.take(f); err != nil {
			h.conn.server.config.Log.Debug("a connection was ended", "client", h.conn.RemoteAddr(), "error", err)
			h.goAway(last, enhanceYourCalm)
			return err
		}
	}
	h.boundHead()
	if !h.update() {
		h.goAway(last, noError)
		return io.EOF
	}
	return nil
}

// take records a frame of the client.
func (h *http2Conn) take(f frame) error {
	switch f.kind {
	case frameHeaders:
		if h.continuations = 0; f.stream > h.last {
			h.last = f.stream
			h.open[f.stream] = http2Stream{window: h.initial}
		}
		h.asked(f)
		return nil
	case frameContinuation:
		if h.continuations++; h.continuations > continuationsAtLeast+h.conn.server.config.MaxHeader/octetsPerPart {
			return errContinuations
		}
		if !f.isEmpty {
			return nil
		}
	case frameData:
		h.asked(f)
		if !f.isEmpty || f.flags&flagEndStream != 0 {
			return nil
		}
	case frameReset:
		delete(h.open, f.stream)
	}
	if h.empty.AllowN(h.conn.server.config.Now(), 1) {
		return nil
	}
	if h.extra++; h.extra > h.earned+h.sent/octetsPerUpdate {
		return errEmptyFrames
	}
	return nil
}

// asked records a frame with which a request may end.
func (h *http2Conn) asked(f frame) {
	if s, isOpen := h.open[f.stream]; isOpen && f.flags&flagEndStream != 0 {
		s.isAsked = true
		h.open[f.stream] = s
	}
}

// boundHead gives the client the time of a head for a header block, as net/http does for HTTP/1.1 alone.
func (h *http2Conn) boundHead() {
	if h.timed == h.in.isWithinHead() {
		return
	}
	var deadline time.Time
	if h.timed = !h.timed; h.timed {
		deadline = h.conn.server.config.Now().Add(h.conn.server.config.HeaderTimeout)
	}
	h.deadline = deadline
	_ = h.conn.Conn.SetReadDeadline(deadline) // a connection that is closed fails to be read, too
}

// update says whether the connection waits for a request: it does where no stream is open, no header block was begun, and
// what was sent has been written. It returns false where the connection was closed for another one.
func (h *http2Conn) update() bool {
	if len(h.open) == 0 && !h.in.isWithinHead() && h.out.isBetween() {
		h.conn.counted().rest()
		return !h.conn.counted().isEvicted()
	}
	return h.conn.counted().begin()
}

// write writes what net/http sends.
func (h *http2Conn) write(p []byte) (int, error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	n, err := h.conn.Conn.Write(p)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent += int64(n)
	for f, rest, ok := h.out.next(p[:n]); ok; f, rest, ok = h.out.next(rest) {
		h.follow(f)
		isEnd := (f.kind == frameData || f.kind == frameHeaders) && f.flags&flagEndStream != 0
		switch s, isOpen := h.open[f.stream]; {
		case !isOpen:
		case isEnd || f.kind == frameReset:
			delete(h.open, f.stream)
			if isEnd {
				h.earned += emptyPerAnswer
			}
		case f.kind == frameHeaders:
			s.isBegun = true
			h.open[f.stream] = s
		case f.kind == frameData:
			s.window -= int64(f.length)
			h.open[f.stream] = s
		}
	}
	h.update()
	h.answered()
	return n, err
}

// follow records what a frame of net/http means for answers.
func (h *http2Conn) follow(f frame) {
	switch f.kind {
	case frameSettings:
		h.hasSettings = true
	case frameGoAway:
		h.goesAway = true
	case frameHeaders:
		h.known = max(h.known, f.stream)
	case frameData:
		if h.windows.sent(int64(f.length)) {
			h.wake()
		}
	}
}

// left is called where nothing was read. Where the connection was closed for another one, the client learns that no later
// request was looked at: RFC 9113 section 6.8.
func (h *http2Conn) left() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn.counted().isEvicted() {
		h.goAway(h.last, noError)
	}
}

// The error codes of RFC 9113 section 7.
const (
	noError         = 0x0
	cancelled       = 0x8
	enhanceYourCalm = 0xb
)

// goAway writes a GOAWAY frame, unless another one is being written.
func (h *http2Conn) goAway(last uint32, code uint32) {
	if !h.writing.TryLock() {
		return
	}
	defer h.writing.Unlock()
	if !h.out.isBetween() {
		return
	}
	p := []byte{0, 0, 8, frameGoAway, 0, 0, 0, 0, 0}
	p = binary.BigEndian.AppendUint32(p, last)
	_, _ = h.conn.Conn.Write(binary.BigEndian.AppendUint32(p, code)) // it ends in any case
}
