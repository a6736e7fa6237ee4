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
	slots [1024]atomic.Pointer[refusal]
}

// refusal is the reply to a request with this target and this Accept, as long as the cache has this error for its name.
type refusal struct {
	target, accept string
	source         error
	err            error // of the request
	reply          *message.Prepared
}

// isOf reports whether it is the reply to a request while the cache has an error for its name.
func (r *refusal) isOf(request *fast.Request, source error) bool {
	return r.source == source && r.target == request.Target && r.accept == request.Value("Accept") //nolint:errorlint // it is this value
}

// maxRefusal bounds the body of a reply that is remembered, in octets.
const maxRefusal = 8 << 10

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
	r := &w.request
	slot := h.quick.refusals.slot(h.quick.seed, r.Target, r.Value("Accept"))
	found := slot.Load()
	if found == nil || !found.isOf(r, source) {
		var err error
		if found, err = h.prepareRefusal(r, n, source, ttl); err != nil {
			return fast.Target
		}
		if len(found.reply.Body) <= maxRefusal {
			slot.Store(found)
		}
	}
	if reason := h.admitFast(f); reason != "" {
		return reason
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
	w.out = found.reply.AppendTo(w.out, ttl, event.ID, h.quick.date.At(w.now), r.IsHead())
	return ""
}

// prepareRefusal makes the reply that ServeHTTP would send.
func (h *Handler) prepareRefusal(r *fast.Request, n *resolver.Negative, source error, ttl time.Duration) (*refusal, error) {
	made := &refusal{target: strings.Clone(r.Target), accept: strings.Clone(r.Value("Accept")), source: source}
	request, err := message.Parse(made.target)
	if err != nil {
		return nil, err //nolint:wrapcheck // the request is left to ServeHTTP
	}
	header := make(http.Header)
	if r.Has("Accept") {
		header["Accept"] = []string{made.accept}
	}
	made.err = h.suggest(&request, problem.About(n.WithTTL(ttl, resolver.CacheHit), request.Query.URI))
	made.reply = message.Prepare(problem.Reply(header, made.err))
	return made, nil
}
