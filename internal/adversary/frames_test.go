package adversary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// siteHost is a public site whose server is the origin.
const siteHost = "site.example"

// siteSettings are low limits. The log does not contain the requests of a flood.
func siteSettings() []string {
	return []string{
		"URND_LOG_LEVEL=INFO",
		"URND_LIMITS_WRITE_TIMEOUT=1s", "URND_LIMITS_IDLE_TIMEOUT=1s", "URND_LIMITS_ORIGIN_TIMEOUT=2s",
		"URND_LIMITS_ORIGIN_IDLE=1s", "URND_LIMITS_HEADER_TIMEOUT=2s",
	}
}

// prepareSite configures the site, and permits clients to connect to the origin.
func prepareSite(s *stage) error {
	s.text = s.config() + fmt.Sprintf("proxy: {connect_ports: [%s], sites: [{hosts: [%s], servers: ['http://%s']}]}\n",
		portOf(s.origin.address), siteHost, s.origin.address)
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n%sContent-Length: %d\r\n\r\n%s"
	body := func(fields string, n int) script {
		return keeps(fmt.Sprintf(head, fields, n, strings.Repeat("a", n)))
	}
	s.origin.on("/small", body("Cache-Control: max-age=600\r\n", 1<<10))
	s.origin.on("/large", body("Cache-Control: max-age=600\r\n", 1<<20))
	s.origin.on("/uncached", body("Cache-Control: no-store\r\n", 1<<20))
	s.origin.on("/hold", holds)
	return nil
}

// forSite completes a request for the site.
func forSite(line, rest string) string {
	return line + " HTTP/1.1\r\nHost: " + siteHost + "\r\n" + rest
}

// keeps is a script that reads a request, sends bytes, and keeps the connection open.
func keeps(text string) script {
	return func(conn net.Conn, r *http.Request) bool {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return false
		}
		_, err := io.WriteString(conn, text)
		return err == nil
	}
}

// holds is a script that does not respond until urnd has disconnected.
func holds(conn net.Conn, _ *http.Request) bool {
	_, _ = io.Copy(io.Discard, conn)
	return false
}

// attacker returns the address of a client that no other payload uses, up to a limit.
func (s *stage) attacker() string {
	n := s.ids.Add(1)
	return fmt.Sprintf("127.0.%d.%d", 16+n/250%64, 1+n%250)
}

// attacked runs an attack while a victim requests cached responses in both versions.
func (s *stage) attacked(name, section string, attack func(ctx context.Context) error) payload {
	return payload{name: name, section: section, shows: name, play: func(ctx context.Context) error {
		ended := make(chan error, 1)
		go func() { ended <- attack(ctx) }()
		err := errors.Join(s.servesHTTP1(ctx), s.servesHTTP2(ctx))
		return errors.Join(<-ended, err)
	}}
}

// victimsTime is the time limit of a victim, including slow machines.
const victimsTime = 5 * time.Second

// servesHTTP1 returns an error unless a client gets a redirect in time.
func (s *stage) servesHTTP1(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, victimsTime)
	defer cancel()
	got, err := ask(ctx, s.service, victim, "GET", "/urn:ietf:rfc:4", "")
	if err == nil && got.status != http.StatusFound {
		err = fmt.Errorf("it is answered %d: %.200q", got.status, got.body)
	}
	if err != nil {
		return fmt.Errorf("HTTP/1 for %s: %w", victim, err)
	}
	return nil
}

// servesHTTP2 returns an error unless a client gets a page of the site in time. It retries if its connection
// was closed, as the low limits of the daemon cause on a slow machine.
func (s *stage) servesHTTP2(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, victimsTime)
	defer cancel()
	return eventually(ctx, victimsTime, func() error {
		c, err := s.hostile(ctx, victim)
		if err != nil {
			return fmt.Errorf("HTTP/2 for %s: %w", victim, err)
		}
		defer c.conn.Close()
		c.headers(1, true, getBlock("/small"))
		if err := c.await(ctx, func(h *heard) bool { return h.ended[1] && h.status[1] == http.StatusOK }); err != nil {
			return fmt.Errorf("HTTP/2 for %s: %w", victim, err)
		}
		return nil
	})
}

// hostile is an HTTP/2 client whose frames are read by a goroutine.
type hostile struct {
	client2
	mu      sync.Mutex
	heard   heard
	changed chan struct{} // signals received frames
}

// heard contains what urnd has sent.
type heard struct {
	status map[uint32]int  // by stream
	bytes  map[uint32]int  // bytes of content by stream
	ended  map[uint32]bool // by END_STREAM
	resets map[uint32]int  // number by stream
	pongs  int             // acknowledgements of PING whose payload does not begin with 0
	goAway *http2.ErrCode  // last one
	closed error           // why reading ended
}

// over reports whether the connection has ended or is about to end.
func (h *heard) over() bool {
	return h.closed != nil || h.goAway != nil && *h.goAway != http2.ErrCodeNo
}

// done reports whether a stream has ended.
func (h *heard) done(stream uint32) bool {
	return h.ended[stream] || h.resets[stream] > 0 || h.closed != nil
}

// dialHTTP2 opens an HTTP/2 connection without sending anything.
func (s *stage) dialHTTP2(ctx context.Context, from string) (*hostile, error) {
	conn, err := connectTLSFrom(ctx, s.tls, from, "h2")
	if err != nil {
		return nil, err
	}
	c := &hostile{client2: client2{http2.NewFramer(conn, conn), conn}, changed: make(chan struct{}, 1)}
	c.AllowIllegalWrites = true
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.heard = heard{
		status: map[uint32]int{},
		bytes:  map[uint32]int{},
		ended:  map[uint32]bool{},
		resets: map[uint32]int{},
	}
	return c, nil
}

// hostile opens a connection, starts it with settings, and reads frames.
func (s *stage) hostile(ctx context.Context, from string, settings ...http2.Setting) (*hostile, error) {
	c, err := s.dialHTTP2(ctx, from)
	if err != nil {
		return nil, err
	}
	c.begin(settings...)
	go c.hear()
	return c, nil
}

// begin sends the start of a connection. The settings of urnd are acknowledged before they are received, so
// that only one goroutine writes.
func (c *hostile) begin(settings ...http2.Setting) {
	_, _ = io.WriteString(c.conn, http2.ClientPreface)
	_ = c.WriteSettings(settings...)
	_ = c.WriteSettingsAck()
}

// hear reads frames until the connection ends.
func (c *hostile) hear() {
	for {
		frame, err := c.ReadFrame()
		c.mu.Lock()
		c.heard.take(frame, err)
		c.mu.Unlock()
		select {
		case c.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (h *heard) take(frame http2.Frame, err error) {
	if err != nil {
		h.closed = err
		return
	}
	id := frame.Header().StreamID
	switch frame := frame.(type) {
	case *http2.MetaHeadersFrame:
		var status int
		_, _ = fmt.Sscan(frame.PseudoValue("status"), &status)
		if status >= 200 {
			h.status[id] = status
		}
		h.ended[id] = h.ended[id] || frame.StreamEnded()
	case *http2.DataFrame:
		h.bytes[id] += len(frame.Data())
		h.ended[id] = h.ended[id] || frame.StreamEnded()
	case *http2.RSTStreamFrame:
		h.resets[id]++
	case *http2.PingFrame:
		if frame.IsAck() && frame.Data[0] > 0 {
			h.pongs++
		}
	case *http2.GoAwayFrame:
		code := frame.ErrCode
		h.goAway = &code
	}
}

// now evaluates a predicate of the received frames.
func (c *hostile) now(get func(*heard) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return get(&c.heard)
}

// await waits until a predicate holds, or the connection has ended.
func (c *hostile) await(ctx context.Context, holds func(*heard) bool) error {
	for {
		var closed error
		if c.now(func(h *heard) bool { closed = h.closed; return holds(h) }) {
			return nil
		}
		if closed != nil {
			return fmt.Errorf("the connection is closed: %w", closed)
		}
		select {
		case <-c.changed:
		case <-ctx.Done():
			return fmt.Errorf("it does not come: %s: %w", c, ctx.Err())
		}
	}
}

// String describes the received frames for reports.
func (c *hostile) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &c.heard
	text := fmt.Sprintf("statuses %.200v, ended %.200v, resets %.200v", h.status, h.ended, h.resets)
	if h.goAway != nil {
		text += fmt.Sprintf(", GOAWAY %s", *h.goAway)
	}
	if h.closed != nil {
		text += fmt.Sprintf(", closed: %v", h.closed)
	}
	return text
}

// getBlock and postBlock return the field blocks of requests for a page of the site.
func getBlock(path string, fields ...string) []byte { return siteBlock("GET", path, fields...) }

func postBlock(path string, fields ...string) []byte { return siteBlock("POST", path, fields...) }

func siteBlock(method, path string, fields ...string) []byte {
	return header(
		append(
			[]string{":method: " + method, ":scheme: https", ":path: " + path, ":authority: " + siteHost},
			fields...)...)
}

// streams is the limit of concurrent streams: SETTINGS_MAX_CONCURRENT_STREAMS of urnd.
const streams = 100

// framesOfClients are attacks by HTTP/2 frames.
func framesOfClients(s *stage) []payload {
	held := slices.Concat(s.slowFrames(), s.frameStates(), s.frameLimits()) // most wait, so they run concurrently
	return slices.Concat(inFamily("frames: held", held), s.frameCuts(), s.smuggledByHTTP2())
}
