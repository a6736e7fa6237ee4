package proxy

import (
	"hash/maphash"
	"strings"
	"sync"
	"time"

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
	works    sync.Pool // of *fastWork
	refusals refusals
	seed     maphash.Seed
}

// fastWork is what a wake-up of a connection needs.
type fastWork struct {
	request fast.Request
	now     time.Time
	room    [256]byte // of canonical names
	body    []byte
	out     []byte // the responses
	ids     []byte // request identifiers of events
	events  []fastEvent
	seen    seenRequest
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
	host       string // of the last request
	misled     bool   // by that host
	site       *site  // of that host, which urnd is the gateway of; nil for none
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
	c.State = f
	return f
}

// heed looks up what the host of a request means.
func (f *fastClient) heed(host string) {
	if host == f.host {
		return
	}
	f.host = strings.Clone(host)
	f.site = f.handler.gateway.siteAt(host)
	f.misled = f.client.Addr.IsLoopback() && !f.handler.config.Access.Own.Has(host) // see Access.clientOf
}

// AnswerFast implements listen.FastPath.
func (h *Handler) AnswerFast(c *listen.FastConn, octets []byte) (used int) {
	f := h.fastClientOf(c)
	w, _ := h.quick.works.Get().(*fastWork)
	if w == nil {
		w = new(fastWork)
	}
	w.now = h.config.Now()
	for used < len(octets) {
		reason := w.request.Parse(octets[used:])
		if reason == "" {
			reason = h.answerFast(f, w)
		}
		if h.config.Fast != nil {
			h.config.Fast(reason)
		}
		if reason != "" {
			break
		}
		used += w.request.Size
		if len(w.out) > maxFastOut {
			h.flushFast(c, w)
		}
	}
	h.flushFast(c, w)
	h.quick.works.Put(w)
	return used
}

// flushFast reports what was answered, and writes it.
func (h *Handler) flushFast(c *listen.FastConn, w *fastWork) {
	if len(w.events) == 0 {
		return
	}
	took := h.config.Now().Sub(w.now)
	for i := range w.events {
		event := &w.events[i]
		event.Took = took
		if h.config.Observe != nil {
			event.Request = w.seen.of(event)
			h.config.Observe(&event.Event)
		}
	}
	_, _ = c.Write(w.out) // an error ends the connection
	clear(w.events)       // they lie over the buffer of the connection
	w.out, w.ids, w.events = w.out[:0], w.ids[:0], w.events[:0]
}

// answerFast appends the response to a request, and returns why it does not, "" where it does.
func (h *Handler) answerFast(f *fastClient, w *fastWork) fast.Reason {
	r := &w.request
	switch {
	case h.config.Begin != nil:
		return fast.Trace
	case len(r.Target) > h.config.MaxTarget:
		return fast.Target
	case r.Target[0] == '/':
		if f.heed(r.Host); f.site != nil || h.config.RedirectTLS && !f.secure || f.misled {
			return fast.Form
		}
	}
	return h.answerFastName(f, w)
}

// answerFastName answers a request for a location of a name.
func (h *Handler) answerFastName(f *fastClient, w *fastWork) fast.Reason {
	r := &w.request
	request, err := message.Parse(r.Target)
	switch {
	case err != nil || !request.Query.IsURN() || request.Query.Service != resolver.I2L || request.Text != "":
		return fast.Form
	case request.Form != message.FormPath && request.Form != message.FormTarget && request.Form != message.FormTHTTP:
		return fast.Form
	case !f.mayResolve:
		return fast.Access
	}
	if h.config.Ready == nil {
		return fast.Uncached
	}
	answer, err, ok := h.config.Ready.Answer(request.Query, w.now, w.room[:])
	switch {
	case !ok:
		return fast.Uncached
	case err != nil:
		return h.refuseFast(f, w, &request, err, answer.TTL)
	}
	location, ok := h.answers.Choice(answer.Locations)
	record := answer.Record()
	if !ok || record != nil && (record.Sandbox || len(record.Successors) > 0) {
		return fast.Negotiation
	}
	if h.rates != nil && !h.rates.allows(f.client.Addr) {
		return fast.Rate
	}
	h.config.Ready.Used(nil)
	w.body = pages.AppendMoved(w.body[:0], location)
	reply := message.FastRedirect{
		Form: request.Form, Location: location, ContentType: pages.ContentType, TTL: answer.TTL, Date: h.quick.date.At(w.now),
		Body: w.body, IsHead: r.IsHead(),
	}
	event := h.fastEvent(f, w)
	event.Form, event.Service, event.Cache, event.Status = request.Form.String(), request.Query.Service, answer.Cache.String(), reply.Status()
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
