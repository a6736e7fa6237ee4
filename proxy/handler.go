// Package proxy is HTTP in and HTTP out: it turns requests into queries,
// answers into responses, and forwards what a client of a proxy asks for.
package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Config is what a Handler works with. All fields but Observe and Begin must be set.
type Config struct {
	Resolver resolver.Resolver
	Names    resolver.Names // what is known of names without resolving them
	Fetch    scheme.Handler // for the forward proxy, and for those who ask for the thing itself
	Log      *slog.Logger
	Now      func() time.Time
	Access   Access
	Hop      resolver.Hop // names this urnd to other proxies
	// Slots bound the requests that fetch something at a time.
	Slots resolver.Slots
	// RuleTTL is how long what rules say of names may be kept.
	RuleTTL time.Duration
	// Observe is told what came of each request, at its end; nil tells nobody. It must
	// not keep the event.
	Observe func(*Event)
	// Begin begins the span of a request, nil for none; nil begins none. Whether its
	// traceparent may ask for one is heeded.
	Begin func(r *http.Request, at time.Time, heeded bool) Span
	// Identify names each request in its response; those that fail are always named.
	Identify bool
	// MaxTarget bounds a request-target, in octets.
	MaxTarget int
}

// Handler answers the requests of clients. It is safe for concurrent use.
type Handler struct {
	config  Config
	forward http.Handler
	health  *health
	fetcher scheme.Handler // Fetch, with an eye on health
	batches chan struct{}  // one for each that is under way

	rates     *rates // nil where there is no bound
	recorders sync.Pool
}

// New returns a Handler.
func New(config Config) *Handler {
	h := &Handler{config: config, health: newHealth(config.Now), batches: make(chan struct{}, maxBatches)}
	h.fetcher = h.health.watch(config.Fetch)
	h.forward = h.newForward()
	if config.Access.Rate > 0 {
		h.rates = newRates(config.Access.Rate, config.Now)
	}
	return h
}

// serveAnswer redirects to one location of an answer.
func (h *Handler) serveAnswer(w http.ResponseWriter, r *http.Request, req request) {
	answer, err := h.config.Resolver.Resolve(r.Context(), req.query)
	if err != nil {
		h.fail(w, r, err, req.query.URI.String(), nil)
		return
	}
	eventOf(w).Cache = answer.Cache
	chosen, vary := h.choose(r, answer.Locations)
	if vary != "" {
		w.Header().Set("Vary", vary)
	}
	writeRedirect(w, redirectStatus(req.form, r.ProtoAtLeast(1, 1)), chosen.URI, answer)
}

// fail answers an error about input, and reports it.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error, input string, trace []resolver.Step) {
	event := eventOf(w)
	event.Err = err
	if event.ID == "" && statusOf(err) >= http.StatusInternalServerError {
		event.ID = h.identify(w, r)
	}
	h.report(r, err, event.ID)
	var n *resolver.Negative
	if errors.As(err, &n) {
		event.Cache = n.Cache
	}
	writeProblem(w, r, err, input, trace)
}

// report logs an error that is not the client's, and what the guard refuses.
func (h *Handler) report(r *http.Request, err error, id string) {
	status := statusOf(err)
	failed := status >= http.StatusInternalServerError && status != http.StatusNotImplemented && !errors.Is(err, context.Canceled) && !errors.As(err, new(*resolver.Negative))
	if failed || errors.Is(err, netguard.ErrForbidden) {
		h.config.Log.WarnContext(r.Context(), "request failed", "status", status, "client", r.RemoteAddr, "request", id, "error", err)
	}
}
