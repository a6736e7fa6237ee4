package http2

import (
	"encoding/binary"
	"slices"

	"golang.org/x/net/http2"
)

// Frames are appended to the output of a connection under its lock, and one goroutine at a time writes it to
// the socket: the one that has appended to it, or if more was appended meanwhile, a pooled one. A stream has
// no output of its own: its content stays in the buffer of the handler until the windows are open and the
// stream is next in the round robin.

const (
	// maxFrame is the frame size that every client accepts (RFC 9113 section 4.2), and the quantum of a
	// stream in the round robin.
	maxFrame = 16 << 10
	// maxOutput is the most bytes of DATA that wait to be written, maxQueued of all frames: beyond it the
	// client is not read.
	maxOutput = 64 << 10
	maxQueued = maxOutput + maxFrame
	// minWrite is how many bytes are written without a Flush.
	minWrite = 16 << 10
)

// appendFrame appends a frame header: RFC 9113 section 4.1.
func appendFrame(dst []byte, length int, kind http2.FrameType, flags http2.Flags, stream uint32) []byte {
	//nolint:gosec // a length has 24 bits
	dst = append(dst, byte(length>>16), byte(length>>8), byte(length), byte(kind), byte(flags))
	return binary.BigEndian.AppendUint32(dst, stream)
}

// appendCode appends a frame with a number as its payload: RST_STREAM or WINDOW_UPDATE.
func (c *connection) appendCode(kind http2.FrameType, stream, value uint32) {
	const length = 4
	c.out = binary.BigEndian.AppendUint32(appendFrame(c.output(), length, kind, 0, stream), value)
}

// appendSettings appends the server's SETTINGS, and its connection window: RFC 9113 sections 3.4 and 6.9.2.
func (c *connection) appendSettings() {
	settings := []http2.Setting{
		{ID: http2.SettingMaxConcurrentStreams, Val: uint32(c.server.config.MaxConcurrentStreams)}, //nolint:gosec // small
		{ID: http2.SettingInitialWindowSize, Val: firstWindow},
		{ID: http2.SettingMaxHeaderListSize, Val: uint32(c.maxList())}, //nolint:gosec // small
	}
	if c.server.config.ExtendedConnect {
		settings = append(settings, http2.Setting{ID: http2.SettingEnableConnectProtocol, Val: 1})
	}
	const size = 6
	c.out = appendFrame(c.output(), size*len(settings), http2.FrameSettings, 0, 0)
	for _, s := range settings {
		c.out = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(c.out, uint16(s.ID)), s.Val)
	}
	c.appendCode(http2.FrameWindowUpdate, 0, maxWindow-initialWindow)
}

// appendGoAway appends a GOAWAY frame: RFC 9113 section 6.8.
func (c *connection) appendGoAway(last uint32, code http2.ErrCode) {
	const length = 8
	c.out = binary.BigEndian.AppendUint32(appendFrame(c.output(), length, http2.FrameGoAway, 0, 0), last)
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(code))
}

// appendPing appends a PING frame: RFC 9113 section 6.7.
func (c *connection) appendPing(flags http2.Flags, data [8]byte) {
	c.out = append(appendFrame(c.output(), len(data), http2.FramePing, flags, 0), data[:]...)
}

// appendBlock appends a field block as a HEADERS frame, and CONTINUATION frames if it is long: RFC 9113 section 4.3.
func (c *connection) appendBlock(stream uint32, block []byte, end bool) {
	var flags http2.Flags
	if end {
		flags = http2.FlagHeadersEndStream
	}
	kind := http2.FrameHeaders
	for first := true; first || len(block) > 0; first = false {
		c.output()
		update := 0
		if c.shrinkTable {
			c.shrinkTable, update = false, 1
		}
		part := block[:min(len(block), maxFrame-update)]
		if block = block[len(part):]; len(block) == 0 {
			flags |= http2.FlagHeadersEndHeaders
		}
		c.out = appendFrame(c.out, update+len(part), kind, flags, stream)
		if update > 0 {
			const emptyTable = 0x20 // RFC 7541 section 6.3
			c.out = append(c.out, emptyTable)
		}
		c.out = append(c.out, part...)
		kind, flags = http2.FrameContinuation, 0
	}
}

// output returns the output, and takes a buffer if it has none.
func (c *connection) output() []byte {
	if c.out == nil {
		c.out = c.server.takeOutput()
	}
	return c.out
}

func (s *Server) takeOutput() []byte {
	if b, ok := s.outputs.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	const size = 4 << 10
	return make([]byte, 0, size)
}

func (s *Server) giveOutput(b []byte) {
	if cap(b) > 0 && cap(b) <= 2*maxQueued {
		s.outputs.Put(&b)
	}
}

// flush writes the output, unless another goroutine is writing, which then writes this, too. It writes once:
// what is appended meanwhile is written by a pooled goroutine, so that neither a handler nor the reader works
// for others. c.mu is held, except while it writes.
func (c *connection) flush() {
	if c.writing || len(c.out) == 0 || c.err != nil {
		return
	}
	c.writing = true
	c.writeOnce()
	c.writeRest()
}

// flushLater is flush by a pooled goroutine.
func (c *connection) flushLater() {
	if c.writing || len(c.out) == 0 || c.err != nil {
		return
	}
	c.writing = true
	c.writeRest()
}

// writeRest ends the writing, or passes it to a pooled goroutine. c.mu is held.
func (c *connection) writeRest() {
	if len(c.out) > 0 && c.err == nil {
		c.running++
		c.server.start((*writer)(c))
		return
	}
	c.written()
}

// written is called when no goroutine writes any more. c.mu is held.
func (c *connection) written() {
	c.writing = false
	if len(c.out) == 0 {
		c.server.giveOutput(c.out)
		c.out = nil
	}
	c.progress.Broadcast()
	c.suspend()
}

// writer writes the output of a connection until it is empty.
type writer connection

func (w *writer) run() {
	c := (*connection)(w)
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.out) > 0 && c.err == nil {
		c.writeOnce()
	}
	c.written()
	c.ended()
}

// writeOnce writes the current output. c.mu is held, except while it writes.
func (c *connection) writeOnce() {
	buffer := c.out
	c.out = nil
	c.mu.Unlock()
	_, err := c.Write(buffer)
	c.mu.Lock()
	c.sent += int64(len(buffer))
	c.server.giveOutput(buffer)
	if err != nil {
		c.fail(err)
		return
	}
	c.progress.Broadcast()
	c.pump()
}

// queue adds a stream to the round robin, if it has pending content and its window is open. c.mu is held.
func (c *connection) queue(s *stream) {
	if !s.queued && s.window > 0 && len(s.pending) > 0 {
		s.queued = true
		c.turns = append(c.turns, s)
	}
}

// dequeue discards the pending content of a stream. c.mu is held.
func (c *connection) dequeue(s *stream) {
	s.pending = nil
	if s.queued {
		s.queued = false
		i := slices.Index(c.turns, s)
		c.turns = slices.Delete(c.turns, i, i+1)
	}
}

// pump appends DATA of the queued streams in turn, as far as the windows and the output allow. c.mu is held.
func (c *connection) pump() {
	for len(c.turns) > 0 && c.window > 0 && len(c.out) < maxOutput && c.err == nil {
		s := c.turns[0]
		c.turns = slices.Delete(c.turns, 0, 1)
		s.queued = false
		if s.window <= 0 { // a setting has closed it
			continue
		}
		s.pending = c.sendPart(s, s.pending, s.ends)
		s.changed.Broadcast()
		if s.lingers {
			s.linger()
		}
		c.queue(s)
	}
}

// sendPart appends the content that fits into a frame and into the windows, which are open, and returns the
// rest. c.mu is held.
func (c *connection) sendPart(s *stream, content []byte, ends bool) (rest []byte) {
	n := min(int64(len(content)), maxFrame, s.window, c.window)
	c.window -= n
	s.window -= n
	s.sent += n
	rest = content[n:]
	c.appendData(s, content[:n], ends && len(rest) == 0)
	return rest
}

// appendData appends a DATA frame. The caller has reduced the windows. c.mu is held.
func (c *connection) appendData(s *stream, part []byte, end bool) {
	var flags http2.Flags
	if end {
		flags = http2.FlagDataEndStream
	}
	c.out = append(appendFrame(c.output(), len(part), http2.FrameData, flags, s.id), part...)
	if end {
		s.responded()
	}
}
