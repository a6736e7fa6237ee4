package listen

import (
	"encoding/binary"
	"sync"
	"time"
)

// http2Dispatcher stands between a connection by HTTP/2 and net/http, which reads by it. Requests that a FastPath can answer are answered
// there, and net/http sees nothing of them; all else it gets as it came, but for header blocks, which are made again (headerBlocks),
// and increments of the window of the connection, which is divided (windows). The goroutine that reads for net/http alone uses it.
type http2Dispatcher struct {
	h      *http2Conn
	fast   *FastConn // nil for none
	blocks *headerBlocks

	first  [frameHead]byte     // a read of which nobody knows when it ends has no other buffer
	buffer *[dispatchSize]byte // that in lies in; nil for none
	in     []byte              // what has come, and was not looked at
	pass   int                 // octets of it, or to come, that net/http gets as they are
	out    []byte              // for net/http, from given on
	given  int
	room   *[dispatchSize]byte // where out begins; nil for none
	err    error               // behind that

	block uint32 // the stream whose header block has not ended; 0 for none
	last  uint32 // the last stream that was opened
	table uint32 // the size of the table of the client
	// isClient is whether the client has sent its settings, and isShut whether nothing is answered any more.
	isClient, isShut bool
	handedAt         time.Time // when a request went to net/http

	answering answers
}

// dispatchSize is how much is read at once, a record of TLS at least.
const dispatchSize = 16 << 10

// maxHeld is how much is made for net/http before that reads it, but for what one frame is made to.
const maxHeld = 16 << 10

// dispatchBuffers are those of the connections that are in use.
type dispatchBuffers struct {
	pool     sync.Pool // of *[dispatchSize]byte
	answered sync.Pool // of *answerBuffers
}

func (b *dispatchBuffers) answers() *answerBuffers {
	if buffers, ok := b.answered.Get().(*answerBuffers); ok {
		return buffers
	}
	return new(answerBuffers)
}

func (b *dispatchBuffers) get() *[dispatchSize]byte {
	if buffer, ok := b.pool.Get().(*[dispatchSize]byte); ok {
		return buffer
	}
	return new([dispatchSize]byte)
}

func newHTTP2Dispatcher(h *http2Conn, fast *FastConn) *http2Dispatcher {
	return &http2Dispatcher{
		h: h, fast: fast, blocks: newHeaderBlocks(h.conn.server.config.MaxHeader), table: tableSize, pass: prefaceRest,
	}
}

// hold keeps what came with the first line of the preface.
func (d *http2Dispatcher) hold(octets []byte) { d.in = append(d.in, octets...) }

// read reads for net/http.
func (d *http2Dispatcher) read(p []byte) (int, error) {
	for len(p) > 0 {
		if n := copy(p, d.out[d.given:]); n > 0 {
			if d.given += n; d.given == len(d.out) {
				d.emptied()
			}
			return n, nil
		}
		d.room = d.h.conn.server.dispatching.get()
		d.out = d.room[:0]
		switch hasTaken := d.take(); {
		case len(d.out) > 0:
		case hasTaken:
			d.emptied()
		case d.err != nil:
			d.emptied()
			if !isEnd(d.err) || d.isWithinFrame() || !d.h.awaitAnswers() {
				return 0, d.err
			}
		default:
			d.emptied()
			d.receive()
		}
	}
	return 0, nil
}

// isWithinFrame reports whether a part of a frame or of a header block has come.
func (d *http2Dispatcher) isWithinFrame() bool { return d.pass > 0 || d.block != 0 || len(d.in) > 0 }

// emptied is called when nothing is held for net/http.
func (d *http2Dispatcher) emptied() {
	d.h.conn.server.dispatching.pool.Put(d.room)
	d.out, d.given, d.room = nil, 0, nil
}

// receive reads from the connection.
func (d *http2Dispatcher) receive() {
	into := d.first[:]
	if len(d.in) > 0 {
		if d.buffer == nil {
			d.buffer = d.h.conn.server.dispatching.get()
			d.in = append(d.buffer[:0], d.in...)
		}
		if len(d.in) == cap(d.in) {
			d.in = append(d.in, make([]byte, dispatchSize)...)[:len(d.in)]
		}
		into = d.in[len(d.in):cap(d.in)]
	}
	n, err := d.h.conn.Conn.Read(into)
	switch {
	case n == 0 && (isTimeout(err) && d.h.isWoken() || isEnd(err) && d.h.tellAll()):
		err = nil
	case n > 0 && isEnd(err): // that comes again
		n, err = d.h.read(into[:n], nil)
	default:
		n, err = d.h.read(into[:n], err)
	}
	if len(d.in) > 0 {
		d.in = d.in[:len(d.in)+n]
	} else {
		d.in = into[:n]
	}
	d.err = err
}

// take looks at what has come, until net/http has enough to read, and reports whether there was a frame.
func (d *http2Dispatcher) take() (hasTaken bool) {
	if d.pass == 0 && d.block == 0 { // between two frames
		if due := d.h.takeDue(); due > 0 {
			d.out = appendUpdate(d.out, due)
		}
		if d.h.ended.Load() {
			d.out = d.h.appendResets(d.out)
		}
	}
	rest := d.in
	for len(rest) > 0 && len(d.out) < maxHeld {
		n := d.takeOne(rest)
		if n == 0 {
			break
		}
		rest, hasTaken = rest[n:], true
	}
	d.keep(rest)
	if err := d.answering.flush(d); err != nil && d.err == nil {
		d.err = err
	}
	return hasTaken
}

// keep keeps what was not looked at.
func (d *http2Dispatcher) keep(rest []byte) {
	switch {
	case len(rest) > 0 && d.buffer != nil:
		d.in = d.in[:copy(d.in[:cap(d.in)], rest)]
	case len(rest) > 0:
		d.in = rest
	default:
		if d.in = nil; d.buffer != nil {
			d.h.conn.server.dispatching.pool.Put(d.buffer)
			d.buffer = nil
		}
	}
}

// takeOne takes a frame that octets begin with, or a part of one that net/http gets as it is, and returns how much that was: 0 where
// more must come.
func (d *http2Dispatcher) takeOne(octets []byte) int {
	if d.pass > 0 {
		n := min(d.pass, len(octets))
		d.out = append(d.out, octets[:n]...)
		d.pass -= n
		return n
	}
	if len(octets) < frameHead {
		return 0
	}
	f := headOf(octets)
	size := frameHead + f.length
	switch {
	case !d.isLookedAt(f):
		d.pass = size
		return d.takeOne(octets)
	case len(octets) < size:
		return 0
	}
	d.takeFrame(f, octets[:size])
	return size
}

// headOf returns the frame that octets begin with.
func headOf(octets []byte) frame {
	return frame{
		length: int(octets[0])<<16 | int(octets[1])<<8 | int(octets[2]), kind: octets[3], flags: octets[4],
		stream: binary.BigEndian.Uint32(octets[5:]) &^ (1 << 31),
	}
}

// isLookedAt reports whether a frame is none that net/http gets as it is, whatever it says. One whose length is wrong, or greater than
// net/http takes of a header block, ends the connection there. So does one that is not the next of a header block.
func (d *http2Dispatcher) isLookedAt(f frame) bool {
	const padding, priority, maxSettings = 1 << 8, 5, 600
	if d.block != 0 && (f.kind != frameContinuation || f.stream != d.block) || d.block == 0 && f.kind == frameContinuation {
		d.isShut, d.block = true, 0
		return false
	}
	switch f.kind {
	case frameHeaders, frameContinuation:
		return int64(f.length) <= 2*d.blocks.limit+padding+priority
	case frameSettings:
		return f.length <= maxSettings
	case frameReset, frameWindowUpdate:
		return f.length == windowUpdateLength
	default:
		return false
	}
}

// takeFrame takes a frame that is looked at.
func (d *http2Dispatcher) takeFrame(f frame, octets []byte) {
	payload := octets[frameHead:]
	switch f.kind {
	case frameHeaders:
		d.takeHeaders(f, octets)
		return
	case frameContinuation:
		d.takeContinuation(f, octets)
		return
	case frameSettings:
		d.takeSettings(f, payload)
	case frameReset:
		if d.isUnknown(f.stream) {
			return
		}
	case frameWindowUpdate:
		increment := int64(binary.BigEndian.Uint32(payload) &^ (1 << 31))
		switch {
		case increment == 0:
		case f.stream == 0:
			d.takeUpdate(increment)
			return
		case d.isUnknown(f.stream):
			return
		default:
			d.h.addStreamWindow(f.stream, increment)
		}
	}
	d.out = append(d.out, octets...)
}

// isUnknown reports whether net/http would not know that a stream was used before.
func (d *http2Dispatcher) isUnknown(stream uint32) bool {
	return stream%2 == 1 && stream <= d.answering.last && !d.h.isKnown(stream)
}

// takeUpdate takes an increment of the window of the connection. One that makes it too large reaches net/http, which ends it.
func (d *http2Dispatcher) takeUpdate(increment int64) {
	told, ok := d.h.addWindow(increment)
	switch {
	case !ok:
		d.isShut = true
		d.out = appendUpdate(appendUpdate(d.out, maxWindow), maxWindow)
	case told > 0:
		d.out = appendUpdate(d.out, told)
	}
}

// takeSettings takes what the settings of the client mean for answers: RFC 9113 section 6.5.2.
func (d *http2Dispatcher) takeSettings(f frame, payload []byte) {
	const setting, idLength, tableID, windowID = 6, 2, 1, 4
	if f.flags&flagAck != 0 {
		return
	}
	for d.isClient = true; len(payload) >= setting; payload = payload[setting:] {
		value := binary.BigEndian.Uint32(payload[idLength:])
		switch binary.BigEndian.Uint16(payload) {
		case tableID:
			// Whoever has a smaller table expects that the next header block says so, which only net/http does: RFC 7541 section 4.2.
			d.isShut = d.isShut || value < d.table
			d.table = value
		case windowID:
			d.isShut = d.isShut || value > maxWindow
			d.h.setInitialWindow(int64(value))
		}
	}
}

// takeHeaders takes a HEADERS frame.
func (d *http2Dispatcher) takeHeaders(f frame, octets []byte) {
	fragment, priority, ok := fragmentOf(f.flags, octets[frameHead:])
	d.blocks.begin()
	if !ok || f.stream == 0 || d.blocks.isTooLong(fragment) { // net/http does not decode it either
		d.out = append(d.out, octets...)
		return
	}
	isWhole := f.flags&flagEndHeaders != 0
	fields, err := d.blocks.decode(fragment, isWhole)
	isNew := f.stream%2 == 1 && f.stream > d.last
	if err == nil && isWhole && isNew && !dependsOnItself(priority, f.stream) && d.answering.answer(d, f, fields) {
		d.last = f.stream
		return
	}
	f.flags &^= flagPadded
	if !isWhole {
		d.block = f.stream
	}
	switch {
	case isNew:
		d.last, d.handedAt = f.stream, d.h.conn.server.config.Now()
	case d.isUnknown(f.stream): // it is used again, for which net/http would end the connection: to that any other wrong one is the same
		f.stream, d.isShut = 2, true
	}
	d.handBlock(f, priority, appendFields(nil, fields), err)
}

// takeContinuation takes a CONTINUATION frame of the header block that has begun.
func (d *http2Dispatcher) takeContinuation(f frame, octets []byte) {
	fragment := octets[frameHead:]
	if d.blocks.isTooLong(fragment) { // any frame but a CONTINUATION is the same error to net/http
		d.isShut, d.block = true, 0
		d.out = append(appendHead(d.out, pingLength, framePing, 0, 0), make([]byte, pingLength)...)
		return
	}
	isLast := f.flags&flagEndHeaders != 0
	fields, err := d.blocks.decode(fragment, isLast)
	if isLast {
		d.block = 0
	}
	d.handBlock(f, nil, appendFields(nil, fields), err)
}

// handBlock hands a fragment of a header block to net/http.
func (d *http2Dispatcher) handBlock(f frame, priority, fragment []byte, err error) {
	if err != nil {
		d.isShut, d.block = true, 0
		f.flags |= flagEndHeaders
		fragment = []byte(brokenBlock)
	}
	d.out = appendBlock(d.out, f, priority, fragment, maxBlockFrame)
}

// isOpen reports whether a request may be answered now. net/http gets one from time to time, or it would close a connection as idle
// that is in use.
func (d *http2Dispatcher) isOpen() bool {
	const share = 4
	config := &d.h.conn.server.config
	return d.fast != nil && d.isClient && !d.isShut && d.err == nil && !d.handedAt.IsZero() && !d.fast.IsEnding() &&
		(config.IdleTimeout <= 0 || config.Now().Sub(d.handedAt) < config.IdleTimeout/share)
}
