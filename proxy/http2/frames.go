package http2

import (
	"slices"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/time/rate"
)

// Limits of frames without content: a burst, a rate per second, and additional ones in proportion to the
// responses, for which clients open windows and close streams. A browser that leaves a page resets all of its
// streams. Streams that the server must reset count, too.
const (
	emptyBurst     = 1000
	emptyPerSecond = 100
	emptyPerAnswer = 4
	bytesPerUpdate = 1 << 10
)

// flood counts frames without content.
type flood struct {
	empty  *rate.Limiter
	extra  int64 // those beyond the rate
	earned int64 // additional ones allowed by responses
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
	case *http2.ContinuationFrame: // their number is limited
		if len(f.HeaderBlockFragment()) > 0 {
			return nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count()
}

// count counts an action that costs the server more than the client. c.mu is held.
func (c *connection) count() error {
	if c.flood.empty.AllowN(c.server.config.Now(), 1) {
		return nil
	}
	if c.flood.extra++; c.flood.extra > c.flood.earned+c.sent/bytesPerUpdate {
		return &connectionError{http2.ErrCodeEnhanceYourCalm, "too many frames without content"}
	}
	return nil
}

// resetStreams are the most recent streams that the server has reset before the client had ended them. Later
// frames of these are ignored: RFC 9113 section 5.1.
type resetStreams struct {
	ids  []uint32
	next int // index in ids, when they are full
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

// remove forgets a stream that the client has reset, too: later frames of it are not ignored.
func (r *resetStreams) remove(id uint32) {
	if i := slices.Index(r.ids, id); i >= 0 {
		r.ids[i] = 0
	}
}

// handle handles a frame. An error ends the connection.
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
		return protocolError("PUSH_PROMISE from a client") // RFC 9113 section 8.4
	}
	return nil // others are extensions, or announce the end of the client
}

// stream returns an open stream, nil for a closed one. An idle stream is an error: RFC 9113 section 5.1. c.mu is held.
func (c *connection) stream(id uint32) (*stream, error) {
	if s := c.streams[id]; s != nil {
		return s, nil
	}
	if c.ignores(id) || id%2 == 1 && id <= c.last {
		return nil, nil //nolint:nilnil // no stream, and no error
	}
	return nil, protocolError("a frame on an idle stream")
}

// ignores reports whether a stream is after the last one that is served. c.mu is held.
func (c *connection) ignores(id uint32) bool {
	return c.goAway.final && id%2 == 1 && id > c.goAway.last
}

// ping answers a PING, or handles the acknowledgement of goAwayPing: RFC 9113 sections 6.7 and 6.8. c.mu is held.
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

// data handles content of a request: RFC 9113 section 6.1. c.mu is held.
func (c *connection) data(f *http2.DataFrame) error {
	size := int64(f.Length)
	if c.received += size; c.received > maxWindow/2 {
		c.appendCode(http2.FrameWindowUpdate, 0, uint32(c.received)) //nolint:gosec // at most the window
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

// windowUpdate enlarges a window of the client: RFC 9113 section 6.9. c.mu is held.
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

// openWindow enlarges the client's connection window, and continues what waits for it. c.mu is held.
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
	if f.IsAck() { // from here on the client uses the announced windows: RFC 9113 section 6.9.3
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
		default: // the server does not need the others
		}
		return nil
	})
	if err != nil {
		return err //nolint:wrapcheck // a connectionError
	}
	c.out = appendFrame(c.output(), 0, http2.FrameSettings, http2.FlagSettingsAck, 0)
	c.pump() // after the acknowledgement, so that the client knows which windows apply
	return nil
}

// setInitialWindow sets the windows of streams, including open ones, which may become negative: RFC 9113
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

// appendReset appends a RST_STREAM frame. Later frames of a stream that the client has not ended (open) are
// ignored. c.mu is held.
func (c *connection) appendReset(id uint32, code http2.ErrCode, open bool) {
	if c.err != nil {
		return
	}
	c.appendCode(http2.FrameRSTStream, id, uint32(code))
	if open {
		c.resets.add(id)
	}
}

// resetID resets a stream, open or not, for an error of the client, and counts that: it costs the server more
// than the client. An error ends the connection. c.mu is held.
func (c *connection) resetID(id uint32, code http2.ErrCode) error {
	if s := c.streams[id]; s != nil {
		s.reset(code)
	} else {
		c.appendReset(id, code, true)
	}
	return c.count()
}
