package proxy

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
)

// refusals are the replies to requests for names whose negative answers are cached. To make one takes much longer than
// to send it. The zero value is empty. It is safe for concurrent use.
type refusals struct {
	slots [512]atomic.Pointer[refusal]
}

// refusal is the reply to a request with this target and this Accept, as long as the cache has this error for its name.
type refusal struct {
	target, accept string
	source         *resolver.Negative // that is stored
	err            error              // of the request
	reply          *message.Prepared
}

// isOf reports whether it is the reply to a request while the cache has an error for its name.
func (r *refusal) isOf(request *fast.Request, source *resolver.Negative) bool {
	return r.source == source && r.target == request.Target && r.accept == request.Value("Accept")
}

// isSmall reports whether the reply is worth its memory.
func (r *refusal) isSmall() bool {
	const body, texts = 8 << 10, 512
	return len(r.reply.Body) <= body && len(r.target)+len(r.accept) <= texts
}

// slot returns the place of a reply.
func (r *refusals) slot(seed maphash.Seed, target, accept string) *atomic.Pointer[refusal] {
	return &r.slots[(maphash.String(seed, target)^maphash.String(seed, accept))%uint64(len(r.slots))]
}

// refuseFast appends the reply to a request for a name of which the cache has an error.
func (h *Handler) refuseFast(f *fastClient, w *fastWork, request *message.Request, source error, ttl time.Duration) fast.Reason {
	var n *resolver.Negative
	if !errors.As(source, &n) || h.config.Log.Enabled(context.Background(), slog.LevelDebug) {
		return fast.Trace
	}
	if reason := h.admitFast(f); reason != "" { // before work that a client may not cause too often
		return reason
	}
	r := &w.request
	slot := h.fastPath.refusals.slot(h.fastPath.seed, r.Target, r.Value("Accept"))
	found := slot.Load()
	if found == nil || !found.isOf(r, n) {
		found = h.prepareRefusal(r, n, ttl)
		if found.isSmall() {
			slot.Store(found)
		}
	}
	h.config.Ready.Used(source)
	event := h.fastEvent(f, w)
	w.identify(event) // so that the user and the log speak of the same request
	event.Form, event.Service, event.Cache = request.Form.String(), request.Query.Service, resolver.CacheHit.String()
	event.Status, event.Type, event.Err = found.reply.Status, found.reply.ContentType, found.err
	if !r.IsHead() {
		event.Bytes = int64(len(found.reply.Body))
	}
	if n.Record != nil {
		h.answered(w.seen.of(event), n.Record)
	}
	w.out = found.reply.AppendTo(w.out, ttl, event.ID, h.fastPath.date.At(w.now), r.IsHead())
	return ""
}

// prepareRefusal makes the reply that ServeHTTP would send.
func (h *Handler) prepareRefusal(r *fast.Request, n *resolver.Negative, ttl time.Duration) *refusal {
	made := &refusal{target: strings.Clone(r.Target), accept: strings.Clone(r.Value("Accept")), source: n}
	request, _ := message.Parse(made.target) // it was parsed before, over the buffer of the connection
	header := http.Header{"Accept": {made.accept}}
	made.err = h.suggest(&request, problem.About(n.WithTTL(ttl, resolver.CacheHit), request.Query.URI))
	made.reply = message.Prepare(problem.Reply(header, made.err))
	return made
}
