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

// refusals are cached renderings of the replies to requests for names whose negative answers are cached: to render one takes much longer
// than to send it. It is safe for concurrent use, and must be made by newRefusals.
type refusals struct {
	seed  maphash.Seed
	slots [512]atomic.Pointer[refusal]
}

func newRefusals() *refusals { return &refusals{seed: maphash.MakeSeed()} }

// refusal is the reply to a request with this target, this Accept and this Accept-Language, as long as the cache has this error for its
// name. It is immutable.
type refusal struct {
	target, accept, language string
	base                     string             // of this server
	source                   *resolver.Negative // that is stored
	err                      error              // of the request
	reply                    message.Reply
}

// isOf reports whether it is the reply to a request while the cache has an error for its name.
func (r *refusal) isOf(x *exchange, base string, source *resolver.Negative) bool {
	return r.source == source && r.target == x.in.Target && r.accept == x.lines.List("Accept") && r.base == base &&
		r.language == x.lines.List(pages.Vary)
}

// The sizes of a reply that is worth its memory, and of the texts that it is made of, in bytes.
const (
	maxRefusal      = 8 << 10
	maxRefusalTexts = 512
)

// isSmall reports whether the reply is worth its memory.
func (r *refusal) isSmall() bool {
	return len(r.reply.Body) <= maxRefusal && len(r.target)+len(r.accept)+len(r.language) <= maxRefusalTexts
}

// slot returns the place of the reply to a request.
func (r *refusals) slot(x *exchange) *atomic.Pointer[refusal] {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, text := range [...]string{x.in.Target, x.lines.List("Accept"), x.lines.List(pages.Vary)} {
		_, _ = h.WriteString(text)
		_ = h.WriteByte(0) // which is in none of them
	}
	return &r.slots[h.Sum64()%uint64(len(r.slots))]
}

// cachedRefusal answers a request for a name of which the cache has an error, and reports whether it did.
func (x *exchange) cachedRefusal(source error, found resolver.Answer) bool {
	h := x.handler
	var n *resolver.Negative
	if !errors.As(source, &n) || mayBeMore(&x.ask, source) || h.config.Log.Enabled(context.Background(), slog.LevelDebug) {
		return false
	}
	slot, base := h.refusals.slot(x), x.base()
	rendered := slot.Load()
	if rendered == nil || !rendered.isOf(x, base, n) {
		rendered = x.renderRefusal(base, n, found)
		if rendered.isSmall() {
			slot.Store(rendered)
		}
	}
	if int64(len(rendered.reply.Body)) > x.Room() {
		return false
	}
	h.config.Finder.Used(source)
	x.event.Err = rendered.err
	x.identify() // so that the user and the log speak of the same request
	reply := rendered.reply
	reply.Fresh(found.TTL, n.Clients.Of(found.TTL), n.Clients.SharedOf(found.TTL), &x.scratch.Text)
	reply.Record = n.Record
	x.reply(reply)
	return true
}

// mayBeMore reports whether a name of which the cache has an error may be answered all the same: with the front page, with the page about
// another name, or with the links that an identifier in a web address has although it leads nowhere.
func mayBeMore(a *route.Ask, err error) bool {
	record := resolver.RecordOf(err)
	return isHome(a) || a.Target.Preview != route.NotPreviewed || a.IsLink && record != nil && len(record.Links) > 0
}

// renderRefusal makes the reply that fail would send.
func (x *exchange) renderRefusal(base string, n *resolver.Negative, found resolver.Answer) *refusal {
	r := &refusal{target: strings.Clone(x.in.Target), accept: strings.Clone(x.lines.List("Accept")), base: base, source: n}
	r.language = strings.Clone(x.lines.List(pages.Vary))
	a := x.ask // it lies over the buffer of the connection
	a.Last(strings.Clone)
	names := x.handler.config.Names
	r.err = suggest(&a, problem.About(n.WithTTL(found.TTL, resolver.CacheHit), a.Target.Query.URI), names)
	reply := problem.Reply(x.handler.config.Pages, readerLines(x.lines, &a), r.err)
	r.reply = answer.Failed(reply, strings.Clone(base), strings.Clone(found.Name.String()), a.IsLink, r.err)
	r.reply.Fields = slices.Clip(r.reply.Fields) // who adds to them has a copy
	return r
}
