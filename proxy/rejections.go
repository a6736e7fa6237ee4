package proxy

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// rejections is a fixed-size cache of rendered error replies for names with a cached negative answer: rendering
// takes much longer than sending. It is safe for concurrent use, and must be made by newRejections.
type rejections struct {
	seed  maphash.Seed
	slots [512]atomic.Pointer[rejection]
}

func newRejections() *rejections { return &rejections{seed: maphash.MakeSeed()} }

// rejection is the rendered reply to requests with the same target, Accept and Accept-Language, valid while the
// cache holds the same negative answer for the name. It is immutable.
type rejection struct {
	target, accept, language string
	base                     string             // the URL of this server
	source                   *resolver.Negative // the cached negative answer
	err                      error              // the error of the request
	reply                    message.Reply
}

// isOf reports whether the reply fits a request while source is the cached answer for its name.
func (r *rejection) isOf(x *exchange, base string, source *resolver.Negative) bool {
	return r.source == source && r.target == x.in.Target && r.accept == x.header.List("Accept") && r.base == base &&
		r.language == x.header.List(pages.Vary)
}

// Limits of a reply that is retained, and of the strings of its key, in bytes.
const (
	maxRejection    = 8 << 10
	maxRefusalTexts = 512
)

// isSmall reports whether the reply is within the limits.
func (r *rejection) isSmall() bool {
	return len(r.reply.Body) <= maxRejection && len(r.target)+len(r.accept)+len(r.language) <= maxRefusalTexts
}

// slot returns the slot for the reply to a request.
func (r *rejections) slot(x *exchange) *atomic.Pointer[rejection] {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, text := range [...]string{x.in.Target, x.header.List("Accept"), x.header.List(pages.Vary)} {
		_, _ = h.WriteString(text)
		_ = h.WriteByte(0) // a separator that is in none of the strings
	}
	return &r.slots[h.Sum64()%uint64(len(r.slots))]
}

// cachedRejection answers a request for a name with a cached negative answer, and reports whether it did.
func (x *exchange) cachedRejection(source error, found resolver.Answer) bool {
	h := x.handler
	var n *resolver.Negative
	if !errors.As(source, &n) || mayBeMore(&x.request, source) ||
		h.config.Log.Enabled(context.Background(), slog.LevelDebug) {
		return false
	}
	slot, base := h.rejections.slot(x), x.base()
	rendered := slot.Load()
	if rendered == nil || !rendered.isOf(x, base, n) {
		rendered = x.renderRejection(base, n, found)
		if rendered.isSmall() {
			slot.Store(rendered)
		}
	}
	if int64(len(rendered.reply.Body)) > x.Available() {
		return false
	}
	h.config.Finder.Used(source)
	x.event.Err = rendered.err
	x.identify() // for the log and for the user
	reply := rendered.reply
	reply.SetFreshness(found.TTL, n.ClientTTL.ClientLifetime(found.TTL), n.ClientTTL.SharedLifetime(found.TTL),
		&x.scratch.Text)
	reply.Record = n.Record
	x.reply(reply)
	return true
}

// mayBeMore reports whether a name with a cached negative answer may still have a successful response: the front page,
// the page about another name, or the links of an identifier in a web address that has no location.
func mayBeMore(a *route.Request, err error) bool {
	record := resolver.RecordOf(err)
	return isHome(a) || a.Target.Preview != route.NoPreview || a.IsLink && record != nil && len(record.Links) > 0
}

// renderRejection renders the reply that fail would send.
func (x *exchange) renderRejection(base string, n *resolver.Negative, found resolver.Answer) *rejection {
	r := &rejection{
		target: strings.Clone(x.in.Target), accept: strings.Clone(x.header.List("Accept")), base: base,
		source: n,
	}
	r.language = strings.Clone(x.header.List(pages.Vary))
	a := x.request // a refers to the read buffer of the connection
	a.Clone(strings.Clone)
	names := x.handler.config.Names
	r.err = suggest(&a, problem.WithURI(n.WithTTL(found.TTL, resolver.CacheHit), a.Target.Query.URI), names)
	reply := problem.Reply(x.handler.config.Pages, withChosenLanguage(x.header, &a), r.err)
	r.reply = answer.WithErrorLinks(reply, strings.Clone(base), strings.Clone(found.Name.String()), a.IsLink, r.err)
	r.reply.Fields = slices.Clip(r.reply.Fields) // append copies
	return r
}
