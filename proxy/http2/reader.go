package http2

import (
	"cmp"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/net/http2"
)

// frameReader reads frames of a connection. It is released while no data arrives.
type frameReader struct {
	framer *http2.Framer
	c      *connection
	buffer []byte
	r, w   int   // the range of buffered data
	err    error // of a read
}

const readBuffer = 4 << 10

func (s *Server) takeReader(c *connection) *frameReader {
	r, ok := s.readers.Get().(*frameReader)
	if !ok {
		r = &frameReader{buffer: make([]byte, readBuffer)}
		r.framer = http2.NewFramer(io.Discard, r)
		r.framer.SetReuseFrames()
		r.framer.SetMaxReadFrameSize(maxFrame)
	}
	r.c, r.r, r.w, r.err = c, 0, 0, nil
	return r
}

// Read implements io.Reader, for the Framer.
func (r *frameReader) Read(p []byte) (int, error) {
	if r.r == r.w {
		if r.err == nil {
			r.err = r.c.fill(false)
		}
		if r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.buffer[r.r:r.w])
	r.r += n
	return n, nil
}

// readFrame reads a frame, and limits the rate of frames without content. An error ends the connection.
func (c *connection) readFrame() (http2.Frame, error) {
	header, err := c.reader.framer.ReadFrameHeader()
	if err != nil {
		return nil, c.readError(err)
	}
	block := header.Type == http2.FrameHeaders || header.Type == http2.FrameContinuation
	c.inBlock = c.inBlock || block // other goroutines read it while this one waits
	f, err := c.reader.framer.ReadFrameForHeader(header)
	var stream http2.StreamError
	switch {
	case err == nil:
		return f, c.take(f)
	case errors.As(err, &stream) && !block: // skipping a block would desynchronize the table: RFC 7541
		c.mu.Lock()
		defer c.mu.Unlock()
		return nil, c.resetID(stream.StreamID, stream.Code)
	default:
		return nil, c.readError(err)
	}
}

// readError returns why the connection ends, for an error of reading, of the Framer, or of a setting.
func (c *connection) readError(err error) error {
	var code http2.ConnectionError
	switch {
	case c.reader.err != nil:
		return c.reader.err
	case errors.As(err, &code):
		return &connectionError{http2.ErrCode(code), "a malformed frame"}
	case errors.Is(err, http2.ErrFrameTooLarge):
		return &connectionError{http2.ErrCodeFrameSize, "a frame is too large"}
	default:
		return protocolError("a malformed frame")
	}
}

// endBlock is called when a field block is complete.
func (c *connection) endBlock() {
	c.inBlock, c.blockBy = false, time.Time{}
}

// throttle waits while too much output is unwritten: further frames of the client may need responses. c.mu is
// held, except while it waits.
func (c *connection) throttle() error {
	for len(c.out) > maxQueued && c.err == nil {
		if c.flush(); c.writing {
			c.wait(&c.progress, time.Time{})
		}
	}
	return c.err
}

// fill writes pending output, and reads data if none is buffered. Between two frames it releases resources
// that the connection does not need while it waits. An error ends the connection.
func (c *connection) fill(between bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	buffered := c.reader.r < c.reader.w
	if !buffered {
		c.flush()
	}
	if err := c.throttle(); err != nil || buffered {
		return err
	}
	now := c.server.config.Now()
	for c.activeAt = now; ; now = c.server.config.Now() {
		if c.inBlock && c.blockBy.IsZero() {
			c.blockBy = now.Add(c.server.config.ReadHeaderTimeout)
		}
		if err := c.overdue(now); err != nil {
			return err
		}
		n, err := c.read(between, now)
		switch {
		case n > 0:
			c.suspended = false
			return nil
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return cmp.Or(c.err, err)
		case c.evicted():
			return errEvicted
		case between && !c.suspended && !c.server.config.Now().Before(c.activeAt.Add(suspendAfter)):
			c.giveBack()
		}
	}
}

// giveBack releases the resources that the connection does not need while no data arrives between two frames.
func (c *connection) giveBack() {
	c.suspended = true
	if r := c.reader; r != nil {
		r.c, c.reader = nil, nil
		c.server.readers.Put(r)
	}
	c.block.fields = nil
	if len(c.streams) == 0 {
		c.dropState()
	}
}

// read reads data, until the next deadline, or until an earlier one that is still set: one that fires early
// costs less than setting it for each read. c.mu is held, except while it waits.
func (c *connection) read(between bool, now time.Time) (n int, err error) {
	deadline := c.deadline(between)
	early := !c.unarmed && !c.suspended && c.armed.After(now) && (deadline.IsZero() || !c.armed.After(deadline))
	if !early {
		c.armed, c.unarmed = deadline, false
		if err := c.SetReadDeadline(deadline); err != nil {
			return 0, err //nolint:wrapcheck // of the connection
		}
	}
	c.waiting = true
	c.suspend()
	rested := c.suspended
	if rested && c.idle && c.running == 0 {
		c.Suspend(deadline, c.resume)
		return 0, errSuspended
	}
	c.mu.Unlock()
	if rested {
		err = c.Await()
	}
	if err == nil {
		if c.reader == nil {
			c.reader = c.server.takeReader(c)
		}
		n, err = c.Read(c.reader.buffer)
		c.reader.r, c.reader.w = 0, n
	}
	c.mu.Lock()
	c.waiting = false
	return n, err
}

// evicted reports whether a read has ended before its deadline because the connection was evicted. c.mu is held.
func (c *connection) evicted() bool {
	if !c.idle || !c.server.config.Now().Before(c.armed) {
		return false
	}
	c.idle = false
	return !c.SetServing()
}

// resume continues a suspended connection in another goroutine, when data has arrived, or with the error of waiting.
func (c *connection) resume(err error) {
	c.mu.Lock()
	c.waiting = false
	c.suspended = err != nil
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
		if c.evicted() {
			err = errEvicted
		}
	}
	if c.reader == nil && err == nil {
		c.reader = c.server.takeReader(c)
	}
	c.mu.Unlock()
	c.serve(err)
}

// suspend marks the connection as idle, if it waits for a stream, and nothing is being written. c.mu is held.
func (c *connection) suspend() {
	if !c.waiting || c.idle || len(c.streams) > 0 || c.inBlock || c.writing || len(c.out) > 0 || c.err != nil {
		return
	}
	if c.goAway.final {
		c.interrupt()
		return
	}
	c.idle = true
	c.SetIdle()
}

// quiet is called when the last stream has ended. c.mu is held.
func (c *connection) quiet() {
	c.suspendedSince = c.server.config.Now()
	c.activeAt = c.suspendedSince
	if !c.waiting {
		return
	}
	c.suspended = false // the state of the handler is not released yet
	c.armed = c.deadline(true)
	_ = c.SetReadDeadline(c.armed) // a closed connection is not read
	c.suspend()
}

// deadline returns the time of the next timeout; zero for none. c.mu is held.
func (c *connection) deadline(between bool) time.Time {
	var first time.Time
	add := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	add(c.blockBy)
	add(c.settings)
	add(c.lingerBy)
	if !c.goAway.final {
		add(c.goAway.by)
	}
	if len(c.streams) == 0 {
		add(c.suspendedSince.Add(c.server.config.IdleTimeout))
	}
	if between && !c.suspended {
		add(c.activeAt.Add(suspendAfter))
	}
	return first
}

// overdue handles expired timeouts, and returns why the connection ends, if it does. c.mu is held.
func (c *connection) overdue(now time.Time) error {
	over := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	switch {
	case c.err != nil:
		return c.err
	case over(c.blockBy):
		return &connectionError{http2.ErrCodeEnhanceYourCalm, "a field block timed out"}
	case over(c.settings):
		return &connectionError{http2.ErrCodeSettingsTimeout, "the settings were not acknowledged"}
	}
	if over(c.lingerBy) {
		c.endLingering(now)
	}
	if !c.goAway.final && over(c.goAway.by) {
		c.endGoAway()
		c.flush()
	}
	if len(c.streams) > 0 {
		return nil
	}
	if c.goAway.final {
		return errDrained
	}
	if over(c.suspendedSince.Add(c.server.config.IdleTimeout)) {
		return errIdle
	}
	return nil
}
