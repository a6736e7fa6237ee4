package proxy

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// refusals are the replies to requests for names whose negative answers are cached. To make one takes much longer than
// to send it. The zero value is empty. It is safe for concurrent use.
type refusals struct {
	slots [512]atomic.Pointer[refusal]
}

// refusal is the reply to a request with this target, this Accept and this Accept-Language, as long as the cache has this error for its name.
type refusal struct {
	target, accept, language string
	base                     string             // of this server
	source                   *resolver.Negative // that is stored
	err                      error              // of the request
	reply                    *message.Prepared
}

// isOf reports whether it is the reply to a request while the cache has an error for its name.
func (r *refusal) isOf(request *fast.Request, base string, source *resolver.Negative) bool {
	return r.source == source && r.target == request.Target && r.accept == request.Value("Accept") && r.base == base &&
		r.language == request.Value(pages.Vary)
}

// The sizes of a reply that is worth its memory, and of the texts that it is made of, in octets.
const (
	maxRefusal      = 8 << 10
	maxRefusalTexts = 512
)

// isSmall reports whether the reply is worth its memory.
func (r *refusal) isSmall() bool {
	return len(r.reply.Body) <= maxRefusal && len(r.target)+len(r.accept)+len(r.language) <= maxRefusalTexts
}

// slot returns the place of a reply.
func (r *refusals) slot(seed maphash.Seed, request *fast.Request) *atomic.Pointer[refusal] {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, text := range [...]string{request.Target, request.Value("Accept"), request.Value(pages.Vary)} {
		_, _ = h.WriteString(text)
		_ = h.WriteByte(0) // which is in none of them
	}
	return &r.slots[h.Sum64()%uint64(len(r.slots))]
}

// answerName answers a request for a location of a URN, or of a name of a web host.
func (p *FastPath) answerName(f *fastClient, w *fastWork) fast.Reason {
	r, t := &w.request, &w.ask.Target
	switch {
	case !isPlainName(t):
		return fast.Form
	case p.config.Ready == nil:
		return fast.Uncached
	case p.fields.mayDiffer(w.view.Lines), !isPlainLink(&w.ask, r.Value("Accept")):
		return fast.Negotiation
	}
	found, err, ok := p.config.Ready.Answer(t.Query, w.now, w.name[:])
	switch {
	case !ok:
		return fast.Uncached
	case err != nil:
		return p.refuse(f, w, err, found)
	}
	location, ok := p.answers.Choice(found.Locations)
	record := found.Record()
	hasComponents := t.Query.HasComponents()
	if !ok || hasComponents && len(found.Locations) > 1 || record != nil && (record.Sandbox || len(record.Successors) > 0) {
		return fast.Negotiation
	}
	if location, ok = w.moveTo(location, hasComponents); !ok {
		return fast.Size
	}
	if _, reason := p.admit(f, w, netip.Addr{}); reason != "" {
		return reason
	}
	p.config.Ready.Used(nil)
	name := found.Name.String()
	w.links = appendLinks(w.links[:0], &w.ask, f.place.Base(w.view.Host), name)
	reply := message.FastRedirect{
		Status: answer.RedirectStatus(t.Form, true, record), Location: location, ContentType: pages.ContentType, TTL: found.TTL, Lifetime: found.Lifetime(),
		Shared: found.SharedLifetime(), Tags: p.config.Tags, Name: name,
		Cache: found.Cache, Link: w.links, CORS: p.fields.cors, Vary: p.fields.vary,
		Date: p.date.At(w.now), Body: w.body, IsHead: r.IsHead(),
	}
	event := p.event(f, w)
	event.Cache, event.Status, event.Type = found.Cache.String(), reply.Status, pages.ContentType
	if !r.IsHead() {
		event.Bytes = int64(len(w.body))
	}
	p.answered(event, record)
	reply.RequestID = event.ID
	w.out = reply.AppendTo(w.out)
	return ""
}

// moveTo makes the body of a redirect, and returns where it leads, with the components that the name has. It returns false where there
// is no room for it.
func (w *fastWork) moveTo(location string, hasComponents bool) (with string, ok bool) {
	if hasComponents {
		w.location = w.ask.Target.Query.AppendLocation(w.location[:0], location)
		location = unsafe.String(unsafe.SliceData(w.location), len(w.location)) //nolint:gosec // it is not used behind a change
	}
	w.body = pages.AppendMoved(w.body[:0], location)
	return location, w.request.IsHead() || int64(len(w.body)) <= w.room
}

// answered tells that a name of the registry was answered; a nil record that none was.
func (p *FastPath) answered(event *Event, record *resolver.Record) {
	if record != nil && p.config.Answered != nil {
		p.config.Answered(event.UserAgent, record)
	}
}

// refuse appends the reply to a request for a name of which the cache has an error.
func (p *FastPath) refuse(f *fastClient, w *fastWork, source error, found resolver.Answer) fast.Reason {
	ttl := found.TTL
	var n *resolver.Negative
	if mayBeMore(&w.ask, source) {
		return fast.Form
	}
	if !errors.As(source, &n) || p.config.Log.Enabled(context.Background(), slog.LevelDebug) {
		return fast.Trace
	}
	r := &w.request
	if w.room < maxRefusal || w.view.HTTP2 && len(r.Target)+len(r.Value("Accept"))+len(r.Value(pages.Vary)) > maxRefusalTexts {
		return fast.Size
	}
	if _, reason := p.admit(f, w, netip.Addr{}); reason != "" { // before work that a client may not cause too often
		return reason
	}
	slot := p.refusals.slot(p.seed, r)
	made := slot.Load()
	base := f.place.Base(w.view.Host)
	if made == nil || !made.isOf(r, base, n) {
		made = p.prepareRefusal(w, base, n, found)
		if made.isSmall() {
			slot.Store(made)
		}
	}
	if !r.IsHead() && int64(len(made.reply.Body)) > w.room { // it is longer than its texts let expect: it counts twice
		return fast.Size
	}
	p.config.Ready.Used(source)
	event := p.event(f, w)
	w.identify(event) // so that the user and the log speak of the same request
	event.Cache, event.Status, event.Type, event.Err = resolver.CacheHit.String(), made.reply.Status, made.reply.ContentType, made.err
	if !r.IsHead() {
		event.Bytes = int64(len(made.reply.Body))
	}
	p.answered(event, n.Record)
	w.out = made.reply.AppendTo(w.out, ttl, n.Clients.Of(ttl), n.Clients.SharedOf(ttl), event.ID, p.date.At(w.now), r.IsHead())
	return ""
}

// mayBeMore reports whether a name of which the cache has an error may be answered all the same: with the front page, with the page about
// another name, or with the links that an identifier in a web address has although it leads nowhere.
func mayBeMore(a *route.Ask, err error) bool {
	record := resolver.RecordOf(err)
	return isHome(a) || a.Target.Preview != route.NotPreviewed || a.IsLink && record != nil && len(record.Links) > 0
}

// prepareRefusal makes the reply that ServeHTTP would send.
func (p *FastPath) prepareRefusal(w *fastWork, base string, n *resolver.Negative, found resolver.Answer) *refusal {
	r := &w.request
	made := &refusal{target: strings.Clone(r.Target), accept: strings.Clone(r.Value("Accept")), base: base, source: n}
	made.language = strings.Clone(r.Value(pages.Vary))
	a := w.ask // it was parsed over the buffer of the connection
	a.Last(strings.Clone)
	made.err = suggest(&a, problem.About(n.WithTTL(found.TTL, resolver.CacheHit), a.Target.Query.URI), p.config.Names)
	name := found.Name.String()
	reply := problem.Reply(p.config.Pages, readerLines(w.view.Lines, &a), made.err)
	reply = answer.Failed(reply, base, name, a.IsLink, made.err).Marked(p.config.Tags, name)
	p.cors.Allow(reply.Header, nil)
	made.reply = message.Prepare(reply)
	return made
}
