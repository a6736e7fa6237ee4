package http2

import (
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"golang.org/x/time/rate"
)

// connection is the state of a connection, and the httpmessage.Connection of its requests. The fields after
// mu are shared by the goroutine that reads and those of streams.
type connection struct {
	Conn
	server *Server

	// Used by the reading goroutine only:
	reader  *frameReader // nil while no data arrives
	block   blockDecoder
	state   any  // of the handler: see State
	started bool // the first frame was received

	mu       sync.Mutex
	progress sync.Cond // wakes the reading goroutine when it waits for others
	err      error     // why nothing can be sent any more
	streams  map[uint32]*stream
	last     uint32 // the highest stream identifier of the client
	running  int    // tasks of pooled goroutines
	handlers int    // those that run handlers
	tunnels  int    // streams that are tunnels
	resets   resetStreams
	flood    flood

	out         []byte // frames to be written
	writing     bool
	sent        int64 // bytes
	shrinkTable bool  // the next field block begins with a table size update to 0
	window      int64 // the client's connection window
	initial     int64 // the client's initial window of streams
	turns       []*stream
	received    int64 // bytes of DATA for which the connection window was not reopened yet
	first       int64 // the server's window of new streams

	waiting        bool      // the reading goroutine is blocked in a read
	armed          time.Time // the deadline of that read
	unarmed        bool      // another deadline was set meanwhile
	idle           bool      // conn.Idle was called after the last request, and conn.Serving is still to be called
	inBlock        bool      // a field block has begun
	blockBy        time.Time // its deadline
	settings       time.Time // the deadline of the client's acknowledgement of the settings; zero after it
	suspendedSince time.Time // since when there are no streams
	activeAt       time.Time // when data was last received, or the last stream ended
	suspended      bool      // buffers and state were released
	finished       bool      // the client has closed its side
	onlyTunnels    bool      // all streams are tunnels
	lingerBy       time.Time // when to check lingering streams; zero for none
	goAway         goAway
}

// goAway is the progress of a graceful shutdown of the connection: RFC 9113 section 6.8.
type goAway struct {
	started bool      // the first GOAWAY was sent
	by      time.Time // when the client must have received it
	final   bool      // the second GOAWAY was sent, with the last stream
	last    uint32    // the last stream
}

const (
	initialWindow = 65535 // RFC 9113 section 6.9.2
	maxWindow     = 1<<31 - 1
	maxStream     = 1<<31 - 1
	tableSize     = 4096 // RFC 7541 section 4.2
	// suspendAfter is how long no data arrives before buffers are released.
	suspendAfter = 100 * time.Millisecond
	// roundTrip is how long a client may take to receive a GOAWAY.
	roundTrip = time.Second / 2
)

var (
	errEnded     = errors.New("the connection has ended")
	errIdle      = errors.New("the connection was idle for too long")
	errEvicted   = errors.New("the connection was evicted")
	errDrained   = errors.New("the server closed the connection")
	errSuspended = errors.New("the connection waits in another goroutine")
)

// goAwayPing is the payload of the PING whose acknowledgement proves that the client has received the first GOAWAY.
func goAwayPing() [8]byte { return [8]byte{'g', 'o', 'a', 'w', 'a', 'y'} }

func newConnection(s *Server, conn Conn) *connection {
	now := s.config.Now()
	c := &connection{
		server: s, Conn: conn, streams: make(map[uint32]*stream),
		window: initialWindow, initial: initialWindow, settings: now.Add(s.config.ReadHeaderTimeout),
		suspendedSince: now, first: initialWindow, flood: flood{empty: rate.NewLimiter(emptyPerSecond, emptyBurst)},
	}
	c.progress.L = &c.mu
	c.block.decoder = hpack.NewDecoder(tableSize, c.emit)
	c.block.decoder.SetMaxStringLength(2 * c.maxList())
	c.appendSettings()
	c.idle = true
	c.blockBy, c.inBlock = c.settings, true // the preface has the deadline of a field block
	return c
}

// maxList is the announced size of a field section. Like net/http it adds room for pseudo-header fields and
// the overhead per field.
func (c *connection) maxList() int {
	const spare = 10 * 32
	return c.server.config.MaxHeaderBytes + spare
}

// serve reads frames until the connection ends, or is suspended. A non-nil err means that it has already ended.
func (c *connection) serve(err error) {
	for err == nil {
		err = c.next()
	}
	if !errors.Is(err, errSuspended) {
		c.end(err)
	}
}

// next reads and handles a frame. An error ends the connection.
func (c *connection) next() error {
	if err := c.fill(true); err != nil {
		return err
	}
	f, err := c.readFrame()
	if err != nil {
		return err
	}
	if _, ok := f.(*http2.SettingsFrame); !ok && !c.started { // RFC 9113 section 3.4
		return protocolError("the first frame is not SETTINGS")
	}
	c.started = true
	return c.handle(f)
}

func (c *connection) readPreface() error {
	c.reader = c.server.takeReader(c)
	var preface [len(http2.ClientPreface)]byte
	if _, err := io.ReadFull(c.reader, preface[:]); err != nil {
		return c.readError(err)
	}
	if string(preface[:]) != http2.ClientPreface {
		return protocolError("the preface is missing")
	}
	c.endBlock()
	return nil
}

// end ends a connection for a reason, and returns when none of its state is in use.
func (c *connection) end(reason error) {
	c.mu.Lock()
	if isEnd(reason) {
		c.finish()
	}
	var failed *connectionError
	lingers := true
	switch {
	case c.err != nil: // nothing can be sent
		lingers = false
	case errors.As(reason, &failed):
		c.server.config.Log.Debug("HTTP/2 connection closed", "client", c.RemoteAddr(), "error", reason)
		c.appendGoAway(c.last, failed.code)
	case errors.Is(reason, errIdle), errors.Is(reason, errEvicted):
		c.appendGoAway(c.last, http2.ErrCodeNo)
	case errors.Is(reason, errDrained):
	default:
		lingers = false
		c.fail(errEnded)
	}
	for _, s := range c.streams {
		s.drop(errEnded)
	}
	stop := time.AfterFunc(roundTrip, func() { _ = c.Close() }) // if the client does not read
	c.flushAll()
	stop.Stop()
	c.fail(errEnded)
	if !lingers {
		_ = c.Close()
	}
	for c.running > 0 {
		c.wait(&c.progress, time.Time{})
	}
	c.mu.Unlock()
	if lingers {
		_ = c.Linger() // closes the connection in any case
	}
	_ = c.Close()
	c.reader = nil // it may have stopped within a frame
	c.dropState()
}

// countTunnels is called when the streams, or the tunnels among them, have changed. c.mu is held.
func (c *connection) countTunnels() {
	if only := c.tunnels > 0 && c.tunnels == len(c.streams); only != c.onlyTunnels {
		c.onlyTunnels = only
		c.SetTunnels(only)
	}
}

// finish serves the streams of a client that has closed its side, as far as its windows are open. c.mu is held.
func (c *connection) finish() {
	c.finished = true
	c.dropStuck()
	if len(c.streams) > 0 && !c.goAway.final {
		c.goAway.started, c.goAway.final, c.goAway.last = true, true, c.last
		c.appendGoAway(c.last, http2.ErrCodeNo) // a client that has disconnected responds by a reset
	}
	for c.dropStuck(); c.err == nil && (len(c.streams) > 0 || c.running > 0); c.dropStuck() {
		c.wait(&c.progress, time.Time{})
	}
}

// dropStuck writes the output, and ends the streams that wait for a window or for the rest of a body: a
// client that has closed its side cannot send either. c.mu is held, except while it waits.
func (c *connection) dropStuck() {
	c.flushAll()
	for _, s := range c.streams {
		if !s.body.ended || s.stuck() {
			s.drop(errEnded)
		}
	}
}

// flushAll writes the output, and waits for concurrent writers. c.mu is held, except while it waits.
func (c *connection) flushAll() {
	for c.err == nil && (c.writing || len(c.out) > 0) {
		if c.flush(); c.writing {
			c.wait(&c.progress, time.Time{})
		}
	}
}

// blocked reports whether a window of the client is closed. c.mu is held.
func (s *stream) blocked() bool { return s.window <= 0 || s.c.window <= 0 }

// stuck reports whether a stream waits for a window. c.mu is held.
func (s *stream) stuck() bool { return len(s.pending) > 0 && s.blocked() }

// fail ends all writing, and all streams. c.mu is held.
func (c *connection) fail(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	for _, s := range c.streams {
		s.drop(err)
	}
	c.progress.Broadcast()
	c.interrupt()
}

// interrupt interrupts a blocked read. c.mu is held.
func (c *connection) interrupt() {
	if c.waiting {
		c.unarmed = true
		_ = c.SetReadDeadline(time.Unix(1, 0)) // a closed connection is not read
	}
}

// wakeBy makes a blocked read end by a time. c.mu is held.
func (c *connection) wakeBy(t time.Time) {
	if c.waiting && (c.armed.IsZero() || t.Before(c.armed)) {
		c.armed = t
		_ = c.SetReadDeadline(t) // a closed connection is not read
	}
}

// ended is called at the end of a task. c.mu is held.
func (c *connection) ended() {
	c.running--
	c.progress.Broadcast()
}

// drain starts a graceful shutdown: RFC 9113 section 6.8.
func (c *connection) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beginGoAway()
	c.flushLater()
}

// beginGoAway sends the first of two GOAWAY frames, once. c.mu is held.
func (c *connection) beginGoAway() {
	if c.goAway.started || c.err != nil {
		return
	}
	c.goAway.started, c.goAway.by = true, c.server.config.Now().Add(roundTrip)
	c.appendGoAway(maxStream, http2.ErrCodeNo)
	c.appendPing(0, goAwayPing())
	c.wakeBy(c.goAway.by)
}

// endGoAway sends the second one, with the last stream that is served. c.mu is held.
func (c *connection) endGoAway() {
	if c.goAway.started && !c.goAway.final {
		c.goAway.final, c.goAway.last = true, c.last
		c.appendGoAway(c.last, http2.ErrCodeNo)
	}
}

// wait waits for a signal, or until a deadline, and reports false after it; the zero value is no deadline. It
// may return early. c.mu is held, except while it waits. A condition variable and a timer without a channel
// need less stack and heap than a select.
func (c *connection) wait(changed *sync.Cond, deadline time.Time) bool {
	if deadline.IsZero() {
		changed.Wait()
		return true
	}
	late := false
	timer := time.AfterFunc(deadline.Sub(c.server.config.Now()), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		late = true
		changed.Broadcast()
	})
	defer timer.Stop()
	changed.Wait()
	return !late
}

// isEnd reports whether the client has closed its side: for TLS, with close_notify or without.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// State implements httpmessage.Connection.
func (c *connection) State() any { return c.state }

// SetState implements httpmessage.Connection.
func (c *connection) SetState(state any) { c.state = state }

// Proxied implements httpmessage.Connection: it does not matter for HTTP/2.
func (*connection) Proxied() bool { return false }

// Attached implements httpmessage.Connection: a connection may carry requests of several clients, so nothing
// is attached.
func (*connection) Attached() io.Closer { return nil }

func (c *connection) dropState() {
	if closer, ok := c.state.(io.Closer); ok {
		_ = closer.Close() // errors cannot be reported to a client
	}
	c.state = nil
}
