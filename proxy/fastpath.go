package proxy

import (
	"hash/maphash"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
)

// The fast path answers plain requests from the caches before net/http reads them. It is invisible: each of its
// responses is that of ServeHTTP, with the same rules, limits, metrics and logs. What it does not know surely it leaves
// to ServeHTTP.

// fastPath is the state of the fast path of a handler.
type fastPath struct {
	date     fast.Date
	pool     sync.Pool // of *fastWork
	refusals refusals
	seed     maphash.Seed
}

// fastWork is what a wake-up of a connection needs.
type fastWork struct {
	request fast.Request
	now     time.Time
	turn    uint
	last    time.Duration // see took
	name    [256]byte     // of canonical names
	body    []byte
	out     []byte // the responses
	ids     []byte // request identifiers of events
	events  []fastEvent
	seen    seenRequest
	lines   func(name string) []string // of the request
	target  []byte                     // of a request for a site
	forward fastForward                // what is still to be sent
	buffers net.Buffers
}

// took returns the time since the wake-up. That of one wake-up in sixteen is measured, and stands for the others if it is
// short: they differ little, and a reading of the clock costs as much as a tenth of one.
func (w *fastWork) took(now func() time.Time) time.Duration {
	const short = 100 * time.Microsecond
	if w.turn++; w.turn%16 == 1 || w.last > short {
		w.last = now().Sub(w.now)
	}
	return w.last
}

// maxFastOut is how much is gathered before it is written.
const maxFastOut = 64 << 10

// fastClient is the client of a connection. The fast path makes it anew for another handler, after a reload.
type fastClient struct {
	handler    *Handler
	client     message.Client
	local      string
	secure     bool
	mayResolve bool
	mayProxy   bool // without a password
	host       hostMeaning
	authority  hostMeaning // of absolute-form
}

// hostMeaning is what the host of the last request means, which mostly is that of the next one.
type hostMeaning struct {
	text   string
	known  bool
	misled bool  // a page of another site may have led the client here by it: see Access.clientOf
	isOwn  bool  // it is this server
	site   *site // that urnd is the gateway of; nil for none
}

// fastClientOf returns the client of a connection.
func (h *Handler) fastClientOf(c *listen.FastConn) *fastClient {
	if f, ok := c.State.(*fastClient); ok && f.handler == h {
		return f
	}
	f := &fastClient{handler: h, client: message.ClientOf(c.RemoteAddr().String(), nil, h.config.Access.Trusted), secure: c.IsSecure()}
	if local := c.LocalAddr(); local != nil {
		f.local = local.String()
	}
	f.mayResolve = h.config.Access.mayResolve(f.client)
	f.mayProxy = !f.client.Relayed && message.Contains(h.config.Access.Proxy, f.client.Addr) && h.config.Access.Users == nil
	c.State = f
	return f
}

// meaningOf returns what a host means, by what was found last.
func (f *fastClient) meaningOf(last *hostMeaning, host string) *hostMeaning {
	if last.known && last.text == host {
		return last
	}
	*last = hostMeaning{
		text: strings.Clone(host), known: true,
		misled: f.client.Addr.IsLoopback() && !f.handler.config.Access.Own.Has(host),
		isOwn:  f.local != "" && (host == f.local || f.handler.isOwnName(host, f.local)),
		site:   f.handler.gateway.siteAt(host),
	}
	return last
}

// AnswerFast implements listen.FastPath.
func (h *Handler) AnswerFast(c *listen.FastConn, octets []byte) (used int) {
	if isBound(c) {
		if h.config.Passed != nil {
			h.config.Passed(fast.Session)
		}
		return 0
	}
	f := h.fastClientOf(c)
	w, _ := h.fastPath.pool.Get().(*fastWork)
	if w == nil {
		w = new(fastWork)
		w.lines = w.request.Lines
	}
	w.now = h.config.Now()
	defer func() {
		if value := recover(); value != nil {
			h.config.Panicked(value, debug.Stack())
			if w.forward.content != nil {
				w.forward.content.Close()
			}
			c.Abort()
		}
	}()
	reason := fast.Reason("")
	for used < len(octets) && c.Err() == nil {
		reason = w.request.Parse(octets[used:])
		if reason == "" {
			reason = h.answerFast(f, w)
		}
		if reason != "" {
			break
		}
		used += w.request.Size
		switch {
		case w.forward.isPending:
			h.sendFast(c, w)
		case len(w.out) > maxFastOut:
			h.flushFast(c, w)
		default:
			continue
		}
		w.now = h.config.Now() // the client may have read slowly
	}
	if reason != "" && h.config.Passed != nil {
		h.config.Passed(reason)
	}
	h.flushFast(c, w)
	h.fastPath.pool.Put(w)
	return used
}

// flushFast reports what was answered, and writes it.
func (h *Handler) flushFast(c *listen.FastConn, w *fastWork) {
	if len(w.events) == 0 {
		return
	}
	h.observeFast(w, w.events, w.took(h.config.Now))
	_, _ = c.Write(w.out) // an error ends the connection
	w.reset()
}

// observeFast reports events that took so long.
func (h *Handler) observeFast(w *fastWork, events []fastEvent, took time.Duration) {
	for i := range events {
		event := &events[i]
		event.Took = took
		if h.config.Observe != nil {
			event.Request = w.seen.of(event)
			h.config.Observe(&event.Event)
		}
	}
}

// reset forgets what was sent. Events lie over the buffer of the connection.
func (w *fastWork) reset() {
	clear(w.events)
	w.out, w.ids, w.events = w.out[:0], w.ids[:0], w.events[:0]
}

// answerFast appends the response to a request, and returns why it does not, "" where it does.
func (h *Handler) answerFast(f *fastClient, w *fastWork) fast.Reason {
	r := &w.request
	switch {
	case len(r.Target) > h.config.MaxTarget:
		return fast.Target
	case r.Target[0] != '/':
		return h.answerFastAbsolute(f, w)
	}
	switch host := f.meaningOf(&f.host, r.Host); {
	case host.site != nil:
		scheme := "http://"
		if f.secure {
			scheme = "https://"
		}
		w.target = append(append(append(w.target[:0], scheme...), r.Host...), r.Target...)
		return h.answerFastSite(f, w, host.site, inPlace(w.target))
	case h.config.RedirectTLS && !f.secure || host.misled:
		return fast.Form
	}
	return h.answerFastName(f, w)
}

// admitFast returns why a request that can be answered is left to ServeHTTP all the same, "" where it is not. It counts the
// request: the sampling may count one twice that is refused for its rate, the rate none.
func (h *Handler) admitFast(f *fastClient) fast.Reason {
	switch {
	case h.config.Begin != nil && (h.config.Untraced == nil || !h.config.Untraced()):
		return fast.Trace
	case h.rates != nil && !h.rates.allows(f.client.Addr):
		return fast.Rate
	default:
		return ""
	}
}

// askedFast returns what a target asks for, and why that is left to ServeHTTP, "" where it is not: it is a location of a
// name.
func (h *Handler) askedFast(target string) (message.Request, fast.Reason) {
	request, err := message.Parse(target)
	if err != nil || !request.Query.IsURN() || request.Query.Service != resolver.I2L || request.Text != "" {
		return request, fast.Form
	}
	switch request.Form {
	case message.FormPath, message.FormTarget, message.FormTHTTP:
		return request, ""
	default:
		return request, fast.Form
	}
}

// answerFastName answers a request for a location of a name.
func (h *Handler) answerFastName(f *fastClient, w *fastWork) fast.Reason {
	r := &w.request
	request, reason := h.askedFast(r.Target)
	switch {
	case reason != "":
		return reason
	case !f.mayResolve:
		return fast.Access
	case h.config.Ready == nil:
		return fast.Uncached
	case answer.MayWantTrace(r.Value("Accept")):
		return fast.Negotiation
	}
	found, err, ok := h.config.Ready.Answer(request.Query, w.now, w.name[:])
	switch {
	case !ok:
		return fast.Uncached
	case err != nil:
		return h.refuseFast(f, w, &request, err, found.TTL)
	}
	location, ok := h.answers.Choice(found.Locations)
	record := found.Record()
	if !ok || record != nil && (record.Sandbox || len(record.Successors) > 0) {
		return fast.Negotiation
	}
	if reason := h.admitFast(f); reason != "" {
		return reason
	}
	h.config.Ready.Used(nil)
	w.body = pages.AppendMoved(w.body[:0], location)
	reply := message.FastRedirect{
		Form: request.Form, Location: location, ContentType: pages.ContentType, TTL: found.TTL, Date: h.fastPath.date.At(w.now),
		Body: w.body, IsHead: r.IsHead(),
	}
	event := h.fastEvent(f, w)
	event.Form, event.Service, event.Cache, event.Status = request.Form.String(), request.Query.Service, found.Cache.String(), reply.Status()
	event.Type = pages.ContentType
	if !r.IsHead() {
		event.Bytes = int64(len(w.body))
	}
	if record != nil {
		h.answered(w.seen.of(event), record)
	}
	reply.RequestID = event.ID
	w.out = reply.AppendTo(w.out)
	return ""
}
