package http2

import (
	"time"

	"golang.org/x/net/http2"
)

// inflow is a window that the client has for content: RFC 9113 section 5.2.
type inflow struct {
	available int64 // what it may send
	unsent    int64 // what it may send more, and was not told yet
}

// take takes what the client has sent, and reports false where that is more than it may send.
func (w *inflow) take(n int64) bool {
	w.available -= n
	return w.available >= 0
}

// give gives back what was read, and returns by how much the client is to be told that the window is larger: for little it is not worth
// a frame.
func (w *inflow) give(n int64) (increment int64) {
	const few = receiveWindow / 8
	w.unsent += n
	if w.unsent < few && w.unsent < w.available {
		return 0
	}
	increment = w.unsent
	w.available += increment
	w.unsent = 0
	return increment
}

// credit gives content back to the window of the connection, and to that of a stream, if there is one. c.mu is held.
func (c *connection) credit(s *stream, n int64) {
	if increment := c.received.give(n); increment > 0 {
		c.appendCode(http2.FrameWindowUpdate, 0, uint32(increment)) //nolint:gosec // it is at most the window
	}
	if s == nil || s.body.ended || s.err != nil {
		return
	}
	if increment := s.body.received.give(n); increment > 0 {
		c.appendCode(http2.FrameWindowUpdate, s.id, uint32(increment)) //nolint:gosec // likewise
	}
}

// windowUpdate opens a window of the client: RFC 9113 section 6.9.
func (c *connection) windowUpdate(f *http2.WindowUpdateFrame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.StreamID == 0 {
		if c.window += int64(f.Increment); c.window > maxWindow {
			return &connectionError{http2.ErrCodeFlowControl, "the window of the connection is too large"}
		}
		if c.window <= int64(f.Increment) { // it was used up
			for _, s := range c.streams {
				wake(s.writable)
			}
		}
		c.pump()
		return nil
	}
	s, err := c.stream(f.StreamID)
	if s == nil || err != nil {
		return err
	}
	if s.window += int64(f.Increment); s.window > maxWindow {
		return c.resetID(f.StreamID, http2.ErrCodeFlowControl)
	}
	wake(s.writable)
	c.queue(s)
	c.pump()
	return nil
}

// applySettings applies the settings of the client: RFC 9113 section 6.5.
func (c *connection) applySettings(f *http2.SettingsFrame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.IsAck() {
		c.settings = time.Time{}
		return nil
	}
	const most = 100
	if f.NumSettings() > most { // each of them may change all streams
		return &connectionError{http2.ErrCodeEnhanceYourCalm, "too many settings in a frame"}
	}
	err := f.ForeachSetting(func(setting http2.Setting) error {
		if err := setting.Valid(); err != nil {
			return err //nolint:wrapcheck // it is read below
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
		return settingsError(err)
	}
	c.out = appendFrame(c.output(), 0, http2.FrameSettings, http2.FlagSettingsAck, 0)
	c.pump() // behind the acknowledgement, so that the client knows by which windows
	return nil
}

// settingsError returns why a connection ends whose client has sent a setting that is invalid: RFC 9113 section 6.5.2.
func settingsError(err error) error {
	if code, ok := err.(http2.ConnectionError); ok { //nolint:errorlint // http2 returns it so
		return &connectionError{http2.ErrCode(code), "an invalid setting"}
	}
	return err
}

// setInitialWindow sets the windows of streams, also of those that are open, which may become negative: RFC 9113 section 6.9.2.
func (c *connection) setInitialWindow(size int64) error {
	change := size - c.initial
	c.initial = size
	for _, s := range c.streams {
		if s.window += change; s.window > maxWindow {
			return &connectionError{http2.ErrCodeFlowControl, "the window of a stream is too large"}
		}
		wake(s.writable)
		c.queue(s)
	}
	return nil
}
