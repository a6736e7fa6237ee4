package proxy

import (
	"context"
	"hash/maphash"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/route"
)

// FastPath answers plain requests before net/http reads them: from the caches, or by the same exchange as ServeHTTP. It is
// invisible: each of its responses is that of ServeHTTP, by the same way: with the same rules, limits, metrics and logs. What it
// does not know surely it leaves to ServeHTTP. It is safe for concurrent use.
type FastPath struct {
	*Handler
	date     fast.Date
	pool     sync.Pool // of *fastWork
	plain    sync.Pool // of *plain
	refusals refusals
	seed     maphash.Seed
}

func newFastPath(h *Handler) *FastPath { return &FastPath{Handler: h, seed: maphash.MakeSeed()} }

// fastWork is what a wake-up of a connection needs.
type fastWork struct {
	request fast.Request
	view    route.View
	ask     route.Ask
	now     time.Time
	turn    uint
	// last is what took has measured, for a wake-up at measured.
	last        time.Duration
	measured    time.Time
	name        [256]byte // of canonical names
	location    []byte    // with components
	body, links []byte    // of a redirect
	out         []byte    // the responses
	ids         []byte    // request identifiers of events
	events      []Event
	scratch     route.Scratch
	sending     fastContent // what is still to be sent
	isAsked     bool        // ask is that of the request
	proto       string      // the version of HTTP
	room        int64       // for a content
	buffers     net.Buffers
	cut         [][]byte // of a content, a part of which is sent
}

// took returns the time since the wake-up. That of one wake-up in sixteen is measured, and stands for the others within a
// millisecond if it is short: they differ little, and a reading of the clock costs as much as a tenth of one.
func (w *fastWork) took(now func() time.Time) time.Duration {
	const short, recent = 100 * time.Microsecond, time.Millisecond
	if w.turn++; w.turn%16 == 1 || w.last > short || w.now.Sub(w.measured) > recent {
		w.last, w.measured = now().Sub(w.now), w.now
	}
	return w.last
}

// maxFastOut is how much is gathered before it is written.
const maxFastOut = 64 << 10

// fastClient is the client of a connection, and the place to which it has come. The fast path makes it anew for another handler,
// after a reload.
type fastClient struct {
	handler *Handler
	client  gate.Client
	place   route.Place
	remote  string // its address
	// named is the client that a proxy in front has named last, nil for none.
	named *fastClient
	// requests is the context of its requests that are served, and stop ends the watch of that of the connection; nil before the
	// first one.
	requests lifetime.Lifetime
	stop     func() bool
	// left is the request that AnswerFast has left to ServePlain, nil for none.
	left *plain
}

// begin returns the context of a request, which ends with that of the connection.
func (f *fastClient) begin(ctx context.Context) context.Context {
	if f.stop == nil {
		f.stop = f.requests.Follow(ctx)
	}
	return &f.requests
}

// Close implements io.Closer: the client is made anew for the next request.
func (f *fastClient) Close() error {
	if f.stop != nil {
		f.stop()
	}
	return nil
}

// clientOf returns the client of a connection.
func (p *FastPath) clientOf(c *listen.FastConn) *fastClient {
	before, ok := c.State.(*fastClient)
	if ok && before.handler == p.Handler {
		return before
	}
	if ok {
		_ = before.Close() // it does not fail
	}
	f := &fastClient{handler: p.Handler, remote: c.RemoteAddr().String()}
	f.client = gate.ClientOf(f.remote, nil, p.config.Access.Trusted)
	f.place = p.placeOf(&f.client, c.IsSecure())
	if local := c.LocalAddr(); local != nil {
		f.place.Local = local.String()
	}
	f.place.ServerName = c.ServerName()
	c.State = f
	return f
}

// AnswerFast implements listen.FastPath.
func (p *FastPath) AnswerFast(c *listen.FastConn, octets []byte) (used int) {
	if isBound(c) {
		p.passed(fast.Session)
		return 0
	}
	f, w := p.clientOf(c), p.work()
	f.left, w.room, w.view.HTTP2, w.proto = nil, c.Room(), c.IsHTTP2(), "HTTP/1.1"
	if w.view.HTTP2 {
		w.proto = "HTTP/2.0"
	}
	defer func() {
		if value := recover(); value != nil {
			p.config.Panicked(value, debug.Stack())
			if w.sending.content != nil {
				w.sending.content.Close()
			}
			c.Abort()
		}
	}()
	reason := fast.Reason("")
	for used < len(octets) && c.Err() == nil {
		if reason = w.request.Parse(octets[used:]); reason != "" {
			break
		}
		w.isAsked = false
		if reason = p.answer(f, w); reason != "" {
			if !w.view.HTTP2 {
				f.left = p.leave(w)
			}
			break
		}
		used += w.request.Size
		switch {
		case w.sending.isPending:
			p.send(c, w)
		case len(w.out) > maxFastOut:
			p.flush(c, w)
		default:
			continue
		}
		w.now = p.config.Now() // the client may have read slowly
	}
	if reason != "" {
		p.passed(reason)
	}
	p.flush(c, w)
	p.pool.Put(w)
	return used
}

// ServePlain implements listen.FastPath.
func (p *FastPath) ServePlain(c *listen.FastConn, octets []byte) (used int) {
	if isBound(c) {
		return 0
	}
	f := p.clientOf(c)
	s := f.left
	if f.left = nil; s == nil || !s.request.Begins(octets) {
		return 0
	}
	defer p.plain.Put(s)
	r := &s.request
	host, ok := hostOf(r)
	if !ok {
		return 0
	}
	s.conn = c
	x := p.newExchange()
	x.client, x.lines = f.client, s.lines
	if !r.IsNeutral || r.IsForwarded { // it may name the client
		x.client = gate.ClientOf(f.remote, x.lines, p.config.Access.Trusted)
	}
	x.in = inbound{
		source: s, method: r.Method, target: r.Target, host: host, proto: "HTTP/1.1", major: 1, minor: 1,
		remote: f.remote, local: f.place.Local, isSecure: f.place.Secure,
	}
	if s.isAsked {
		x.in.ask = &s.ask
	}
	ctx := f.begin(c.Begin())
	defer c.End()
	used = r.Size
	if r.Length > 0 {
		s.body = c.BeginBody(octets[r.Size:], r.Length)
		used += int(min(r.Length, int64(len(octets)-r.Size)))
	}
	s.response.Reset(c, r, s.date)
	x.run(ctx, &s.response)
	p.finish(c, s)
	return used
}

// finish ends the response to a request that is served, and what is left of the request.
func (p *FastPath) finish(c *listen.FastConn, s *plain) {
	isSending := false
	if s.body != nil {
		c.EndHandler()
	}
	if !s.response.Finish() {
		c.CloseBehind()
	}
	if s.body != nil {
		isSending = c.EndBody(s.request.Closes)
	}
	if isSending {
		c.EndEarly()
	}
	if s.request.Method == http.MethodPost {
		c.IgnoreEmptyLines()
	}
	s.conn, s.body = nil, nil
}

// leave returns a request that is not answered, for ServePlain. It does not refer to the buffer of the connection: what is stored,
// logged or asked later may refer to it.
func (p *FastPath) leave(w *fastWork) *plain {
	s, _ := p.plain.Get().(*plain)
	if s == nil {
		s = new(plain)
		s.date = func() []byte { return p.date.At(p.config.Now()) }
		s.lines = s.request.Lines
	}
	s.body = nil // that of a request which has panicked
	copied := w.request.CopyTo(&s.request)
	if s.isAsked = w.isAsked && w.ask.Err == nil; s.isAsked {
		s.ask = w.ask
		s.ask.Last(copied.Lasting)
	}
	return s
}

// work returns what a wake-up needs.
func (p *FastPath) work() *fastWork {
	w, _ := p.pool.Get().(*fastWork)
	if w == nil {
		w = new(fastWork)
		w.view.Lines, w.view.Scratch = w.request.Lines, &w.scratch
	}
	w.now = p.config.Now()
	return w
}

func (p *FastPath) passed(reason fast.Reason) {
	if p.config.Passed != nil {
		p.config.Passed(reason)
	}
}

// isBound reports whether a connection to a server belongs to that of a client: what the cache has is not for it.
func isBound(c *listen.FastConn) bool {
	s, _ := c.Attached().(*forward.Session)
	return s.IsBound()
}

// flush reports what was answered, and writes it.
func (p *FastPath) flush(c *listen.FastConn, w *fastWork) {
	if len(w.events) == 0 {
		return
	}
	p.observe(w.events, w.took(p.config.Now))
	_, _ = c.Write(w.out) // an error ends the connection
	w.reset()
}

// observe reports events that took so long.
func (p *FastPath) observe(events []Event, took time.Duration) {
	for i := range events {
		events[i].Took = took
		if p.config.Observe != nil {
			p.config.Observe(&events[i])
		}
	}
}

// reset forgets what was sent. Events lie over the buffer of the connection.
func (w *fastWork) reset() {
	clear(w.events)
	clear(w.cut) // it would hold the memory of the content
	w.cut = w.cut[:0]
	w.out, w.ids, w.events = w.out[:0], w.ids[:0], w.events[:0]
}

// answer appends the response to a request, and returns why it does not, "" where it does.
func (p *FastPath) answer(f *fastClient, w *fastWork) fast.Reason {
	r := &w.request
	switch {
	case !r.IsGet():
		return fast.Method
	case !r.IsNeutral:
		return fast.Field
	case len(r.Target) > p.config.MaxTarget:
		return fast.Target
	}
	host, ok := hostOf(r)
	if !ok {
		return fast.Target
	}
	if r.IsForwarded {
		if p.config.Via.Loops(w.view.Lines) {
			return fast.Form
		}
		f = p.namedBy(f, w)
	}
	w.view.Method, w.view.Target, w.view.Host = r.Method, r.Target, host
	route.Classify(&w.ask, &w.view, &f.place)
	w.isAsked = true
	switch a := &w.ask; {
	case a.Err != nil:
		return fast.Form
	case a.Kind == route.KindForward && !a.IsRespelled, a.Kind == route.KindSite:
		return p.answerStored(f, w)
	case a.Kind == route.KindName:
		return p.answerName(f, w)
	default:
		return fast.Form
	}
}

// hostOf returns the host that a request names as net/http does, from a target in absolute-form and else from Host, and reports
// whether that would find the same one.
func hostOf(r *fast.Request) (host string, ok bool) {
	_, rest, isAbsolute := strings.Cut(r.Target, "://")
	if r.Target[0] == '/' || !isAbsolute { // a path or a name
		return r.Host, true
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest = rest[:i]
	}
	return rest, fast.IsServer(rest)
}

// admit returns why a request that can be answered is left to ServeHTTP all the same, "" where it is not; from is the server of
// a stored response. It counts the request: the sampling may count one twice that is refused.
func (p *FastPath) admit(f *fastClient, w *fastWork, from netip.Addr) (gate.Verdict, fast.Reason) {
	if p.config.Begin != nil && (p.config.Untraced == nil || !p.config.Untraced()) {
		return gate.Verdict{}, fast.Trace
	}
	v := p.gate.AdmitStored(context.Background(), &f.client, &w.ask, from)
	switch {
	case v.Err == nil:
		return v, ""
	case v.Step == gate.StepRate:
		return v, fast.Rate
	default:
		return v, fast.Access
	}
}

// event appends the event of the request that is answered.
func (p *FastPath) event(f *fastClient, w *fastWork) *Event {
	r, a := &w.request, &w.ask
	w.events = append(w.events, Event{
		Method: r.Method, Target: r.Target, Host: w.view.Host, Proto: w.proto, Referer: r.Value("Referer"), UserAgent: r.Value("User-Agent"),
		Client: f.client.Addr, Fast: true, Form: a.Form, Service: a.Service(), Scheme: a.Scheme,
	})
	event := &w.events[len(w.events)-1]
	if p.config.Identify {
		w.identify(event)
	}
	return event
}

// identify gives an event a request identifier, unless it has one.
func (w *fastWork) identify(event *Event) {
	if event.ID != "" {
		return
	}
	at := len(w.ids)
	w.ids = httpmessage.AppendRequestID(w.ids)
	event.ID = unsafe.String(unsafe.SliceData(w.ids[at:]), len(w.ids)-at) //nolint:gosec // not written again before the event ends
}
