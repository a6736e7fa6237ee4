package http2

import (
	"slices"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/time/rate"
)

// A client may send so many frames without content in a burst, then so many a second, and others for what it gets: it
// opens windows for that, and closes streams. A browser that leaves a page resets all of its streams. Streams that the
// server must reset count, too.
const (
	emptyBurst     = 1000
	emptyPerSecond = 100
	emptyPerAnswer = 4
	bytesPerUpdate = 1 << 10
)

// flood counts frames without content.
type flood struct {
	empty  *rate.Limiter
	extra  int64 // those beyond that rate
	earned int64 // how many of these the client may send for its responses
}

// take counts a frame. An error ends the connection.
func (c *connection) take(f http2.Frame) error {
	switch f := f.(type) {
	case *http2.HeadersFrame:
		return nil
	case *http2.DataFrame:
		if len(f.Data()) > 0 || f.StreamEnded() {
			return nil
		}
	case *http2.ContinuationFrame: // their number is bounded
		if len(f.HeaderBlockFragment()) > 0 {
			return nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count()
}

// count counts what costs the server more than the client. c.mu is held.
func (c *connection) count() error {
	if c.flood.empty.AllowN(c.server.config.Now(), 1) {
		return nil
	}
	if c.flood.extra++; c.flood.extra > c.flood.earned+c.sent/bytesPerUpdate {
		return &connectionError{http2.ErrCodeEnhanceYourCalm, "too many frames without content"}
	}
	return nil
}

// resetStreams are the last streams that the server has reset before their clients had ended them. What still comes on
// them is ignored: RFC 9113 section 5.1.
type resetStreams struct {
	ids  []uint32
	next int // of ids, when they are full
}

func (r *resetStreams) add(id uint32) {
	const most = 128
	if len(r.ids) < most {
		r.ids = append(r.ids, id)
		return
	}
	r.ids[r.next] = id
	r.next = (r.next + 1) % most
}

func (r *resetStreams) has(id uint32) bool { return slices.Contains(r.ids, id) }

// remove forgets a stream that its client has reset, too: what comes on it then was sent behind that.
func (r *resetStreams) remove(id uint32) {
	if i := slices.Index(r.ids, id); i >= 0 {
		r.ids[i] = 0
	}
}

// handle does what a frame says. An error ends the connection.
func (c *connection) handle(f http2.Frame) error {
	if f, ok := f.(*http2.HeadersFrame); ok {
		return c.headers(f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f := f.(type) {
	case *http2.DataFrame:
		return c.data(f)
	case *http2.WindowUpdateFrame:
		return c.windowUpdate(f)
	case *http2.SettingsFrame:
		return c.applySettings(f)
	case *http2.PingFrame:
		c.ping(f)
	case *http2.RSTStreamFrame:
		return c.resetByClient(f)
	case *http2.PriorityFrame: // deprecated: RFC 9113 section 5.3.2
		if f.StreamDep == f.StreamID {
			return c.resetID(f.StreamID, http2.ErrCodeProtocol)
		}
	case *http2.PushPromiseFrame:
		return protocolError("PUSH_PROMISE by a client") // RFC 9113 section 8.4
	}
	return nil // others are extensions, or tell of the end of a client that sees to that itself
}

// stream returns a stream that is open, nil for one that was. An error is for one that is idle: RFC 9113 section 5.1.
// c.mu is held.
func (c *connection) stream(id uint32) (*stream, error) {
	if s := c.streams[id]; s != nil {
		return s, nil
	}
	if c.ignores(id) || id%2 == 1 && id <= c.last {
		return nil, nil //nolint:nilnil // there is none, and no error
	}
	return nil, protocolError("a frame of an idle stream")
}

// ignores reports whether a stream was begun behind the last one that is served. c.mu is held.
func (c *connection) ignores(id uint32) bool {
	return c.goAway.final && id%2 == 1 && id > c.goAway.last
}

// ping answers a PING, or is told that the client has heard of the first GOAWAY: RFC 9113 sections 6.7 and 6.8.
// c.mu is held.
func (c *connection) ping(f *http2.PingFrame) {
	switch {
	case !f.IsAck():
		c.appendPing(http2.FlagPingAck, f.Data)
	case f.Data == goAwayPing():
		c.endGoAway()
	}
}

// resetByClient ends a stream: RFC 9113 section 6.4. c.mu is held.
func (c *connection) resetByClient(f *http2.RSTStreamFrame) error {
	c.resets.remove(f.StreamID)
	s, err := c.stream(f.StreamID)
	if s != nil {
		s.drop(errReset)
	}
	return err
}

// data takes content of a request: RFC 9113 section 6.1. c.mu is held.
func (c *connection) data(f *http2.DataFrame) error {
	size := int64(f.Length)
	if c.received += size; c.received > maxWindow/2 {
		c.appendCode(http2.FrameWindowUpdate, 0, uint32(c.received)) //nolint:gosec // it is at most the window
		c.received = 0
	}
	s, err := c.stream(f.StreamID)
	if err != nil {
		return err
	}
	if s == nil {
		if c.ignores(f.StreamID) || c.resets.has(f.StreamID) {
			return c.count()
		}
		return c.resetID(f.StreamID, http2.ErrCodeStreamClosed)
	}
	if code := s.body.take(f.Data(), size, f.StreamEnded()); code != http2.ErrCodeNo {
		return c.resetID(f.StreamID, code)
	}
	if f.StreamEnded() {
		s.requested()
	}
	s.credit(size - int64(len(f.Data())))
	s.changed.Broadcast()
	if s.lingers {
		s.body.content = nil
		if s.sentEnd && s.body.window <= 0 {
			s.reset(http2.ErrCodeNo)
		}
	}
	return nil
}

// windowUpdate opens a window of the client: RFC 9113 section 6.9. c.mu is held.
func (c *connection) windowUpdate(f *http2.WindowUpdateFrame) error {
	if f.StreamID == 0 {
		if c.openWindow(int64(f.Increment)); c.window > maxWindow {
			return &connectionError{http2.ErrCodeFlowControl, "the window of the connection is too large"}
		}
		return nil
	}
	s, err := c.stream(f.StreamID)
	if s == nil || err != nil {
		return err
	}
	if s.window += int64(f.Increment); s.window > maxWindow {
		return c.resetID(f.StreamID, http2.ErrCodeFlowControl)
	}
	s.changed.Broadcast()
	c.queue(s)
	c.pump()
	return nil
}

// openWindow adds to the window of the client for the connection, and goes on with what waits for that. c.mu is held.
func (c *connection) openWindow(n int64) {
	if n == 0 {
		return
	}
	if c.window <= 0 {
		for _, s := range c.streams {
			s.changed.Broadcast()
		}
	}
	c.window += n
	c.pump()
}

// applySettings applies the settings of the client: RFC 9113 section 6.5. c.mu is held.
func (c *connection) applySettings(f *http2.SettingsFrame) error {
	if f.IsAck() { // what comes behind it keeps to the windows that they say: RFC 9113 section 6.9.3
		c.settings = time.Time{}
		for _, s := range c.streams {
			s.body.window += firstWindow - c.first
			s.credit(0)
		}
		c.first = firstWindow
		return nil
	}
	const most = 100
	if f.NumSettings() > most { // each of them may change all streams
		return &connectionError{http2.ErrCodeEnhanceYourCalm, "too many settings in a frame"}
	}
	err := f.ForeachSetting(func(setting http2.Setting) error {
		if err := setting.Valid(); err != nil { // RFC 9113 section 6.5.2
			return c.readError(err)
		}
		switch setting.ID {
		case http2.SettingInitialWindowSize:
			return c.setInitialWindow(int64(setting.Val))
		case http2.SettingHeaderTableSize:
			c.shrinkTable = c.shrinkTable || setting.Val < tableSize
		default: // of these the server needs none
		}
		return nil
	})
	if err != nil {
		return err //nolint:wrapcheck // it is a connectionError
	}
	c.out = appendFrame(c.output(), 0, http2.FrameSettings, http2.FlagSettingsAck, 0)
	c.pump() // behind the acknowledgement, so that the client knows by which windows
	return nil
}

// setInitialWindow sets the windows of streams, also of those that are open, which may become negative: RFC 9113
// section 6.9.2.
func (c *connection) setInitialWindow(size int64) error {
	change := size - c.initial
	c.initial = size
	for _, s := range c.streams {
		if s.window += change; s.window > maxWindow {
			return &connectionError{http2.ErrCodeFlowControl, "the window of a stream is too large"}
		}
		s.changed.Broadcast()
		c.queue(s)
	}
	return nil
}

// appendReset appends a RST_STREAM frame. What still comes on a stream that the client has not ended is ignored. c.mu
// is held.
func (c *connection) appendReset(id uint32, code http2.ErrCode, open bool) {
	if c.err != nil {
		return
	}
	c.appendCode(http2.FrameRSTStream, id, uint32(code))
	if open {
		c.resets.add(id)
	}
}

// resetID resets a stream for an error of the client, whether it is open or not, and counts that: it costs the server
// more than the client. An error ends the connection. c.mu is held.
func (c *connection) resetID(id uint32, code http2.ErrCode) error {
	if s := c.streams[id]; s != nil {
		s.reset(code)
	} else {
		c.appendReset(id, code, true)
	}
	return c.count()
}
