package listen

import "time"

// A client by HTTP/2 may end its side of a connection behind its requests, and gets what fits into its windows. No WINDOW_UPDATE can
// follow: a response that has used up its window would wait until limits.write_timeout, with its handler and all that this holds.
// Nor can the rest of a request follow. So to net/http the end of the client is a RST_STREAM for each of these streams, and the end of
// the connection when the others have been answered, or when the client has left.

// http2Stream is a stream that is open.
type http2Stream struct {
	window  int64 // how much may be sent, without regard to that of the connection: RFC 9113 section 6.9.1
	isAsked bool  // the request has ended
	isBegun bool  // the head of a response was sent
}

// setInitialWindow is called with the window that streams have in the beginning, which those have as well that are open: RFC 9113
// section 6.9.2.
func (h *http2Conn) setInitialWindow(size int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, s := range h.open {
		s.window += size - h.initial
		h.open[id] = s
	}
	h.initial = size
}

// addStreamWindow is called with an increment of the window of a stream.
func (h *http2Conn) addStreamWindow(id uint32, increment int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.open[id]; ok {
		s.window += increment
		h.open[id] = s
	}
}

// cannotEnd reports whether nothing more can come on a stream from, nor to, a client that sends nothing more. h.mu is held.
func (h *http2Conn) cannotEnd(s http2Stream) bool {
	return !s.isAsked || s.isBegun && min(s.window, h.windows.known+h.windows.reserved) <= 0
}

// hasStuck reports whether there is such a stream. h.mu is held.
func (h *http2Conn) hasStuck() bool {
	for _, s := range h.open {
		if h.cannotEnd(s) {
			return true
		}
	}
	return false
}

// appendResets appends a RST_STREAM frame for each stream that cannot end, as from the client: RFC 9113 section 6.4.
func (h *http2Conn) appendResets(dst []byte) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, s := range h.open {
		if h.cannotEnd(s) {
			dst = append(appendHead(dst, windowUpdateLength, frameReset, 0, id), 0, 0, 0, cancelled)
			delete(h.open, id)
		}
	}
	return dst
}

// lastFrame is how long a stream whose window is used up may take to end: its last frame may be an empty one, which needs no window.
const lastFrame = 100 * time.Millisecond

// awaitAnswers waits, where the client has ended its side, until there are streams that cannot end, and returns true. It returns
// false when no stream is open, or the client has left: what is written to one that has not only ended its side is answered by a reset,
// so it gets a GOAWAY, which nobody need answer.
func (h *http2Conn) awaitAnswers() bool {
	h.mu.Lock()
	if !h.ended.Swap(true) && len(h.open) > 0 {
		h.conn.ended.note()
		h.goAway(h.last, noError)
	}
	h.mu.Unlock()
	for {
		h.mu.Lock()
		isOpen := len(h.open) > 0 && !h.conn.counted().isEvicted()
		var deadline time.Time
		if h.isEnding = h.hasStuck(); h.isEnding {
			deadline = h.conn.server.config.Now().Add(lastFrame)
		}
		_ = h.conn.Conn.SetReadDeadline(deadline) // one that is closed fails to be waited for
		h.mu.Unlock()
		if !isOpen || !isTimeout(awaitReset(socketOf(h.conn.Conn))) {
			return false
		}
		h.mu.Lock()
		isStuck := h.isEnding && h.hasStuck()
		h.mu.Unlock()
		if isStuck {
			return true
		}
	}
}

// answered is called when something was sent: awaitAnswers looks again where there is nothing else to wait for. h.mu is held.
func (h *http2Conn) answered() {
	if h.ended.Load() && (len(h.open) == 0 || !h.isEnding && h.hasStuck()) {
		_ = h.conn.Conn.SetReadDeadline(time.Unix(1, 0)) // one that is closed is awake
	}
}
