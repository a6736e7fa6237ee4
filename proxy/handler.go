// Package proxy is HTTP in and HTTP out: it turns requests into queries, answers into
// responses, and forwards what a client of a proxy asks for. Who may do what is decided
// here, and what came of each request is observed here; the rooms below make replies.
package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Config is what a Handler works with. All fields but Observe and Begin must be set.
type Config struct {
	Resolver resolver.Resolver
	Names    resolver.Names // what is known of names without resolving them
	Fetch    scheme.Handler // for the forward proxy, and for clients who ask for the resource itself
	Log      *slog.Logger
	Now      func() time.Time
	Access   Access
	Via      message.ViaName // names this urnd to other proxies
	// Fetches bound what is fetched at a time, and Streams the connections that have
	// changed their protocol, such as WebSockets.
	Fetches, Streams resolver.Slots
	// RuleTTL is how long replies may be stored that depend on rules alone.
	RuleTTL time.Duration
	// Observe is called at the end of each request; nil is not. It must not keep the
	// event.
	Observe func(*Event)
	// Begin begins the span of a request, nil for none; nil begins none. It is told
	// whether the traceparent of the request may ask for one.
	Begin func(r *http.Request, at time.Time, mayAsk bool) Span
	// Identify names each request in its response; those that fail are always named.
	Identify bool
	// MaxTarget bounds a request-target, in octets.
	MaxTarget int
}

// Handler answers the requests of clients. It is safe for concurrent use.
type Handler struct {
	config  Config
	answers *answer.Answers
	forward *forward.Proxy

	rates     *rates // nil where there is no limit
	exchanges sync.Pool
}

// New returns a Handler.
func New(config Config) *Handler {
	health := forward.NewHealth(config.Now)
	h := &Handler{
		config: config,
		answers: answer.New(answer.Config{
			Resolver: config.Resolver, Names: config.Names, Now: config.Now, RuleTTL: config.RuleTTL,
			Failing: health.Failing, MaxTarget: config.MaxTarget,
		}),
	}
	outgoing := forward.Config{
		Fetch: health.Observe(config.Fetch), Log: config.Log, Via: config.Via, Fetches: config.Fetches, Streams: config.Streams,
	}
	if config.Identify {
		outgoing.OwnField = idField
	}
	h.forward = forward.New(outgoing)
	if config.Access.Rate > 0 {
		h.rates = newRates(config.Access.Rate, config.Now)
	}
	return h
}

// ServeHTTP implements http.Handler, and calls Observe with the outcome.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := h.begin(w, r)
	start := h.config.Now()
	if h.config.Identify {
		h.identify(x)
	}
	whole := false
	defer func() { h.end(x, start, whole) }()
	h.traced(x, start) //nolint:contextcheck // the exchange has the request's
	whole = true
}

// report logs an error that is not the client's, and what the guard refuses.
func (h *Handler) report(x *exchange, err error) {
	status := problem.Status(err)
	failed := status >= http.StatusInternalServerError && status != http.StatusNotImplemented && !errors.Is(err, context.Canceled) && !errors.As(err, new(*resolver.Negative))
	if failed || errors.Is(err, netguard.ErrForbidden) {
		attributes := []any{"status", status, "client", x.request.RemoteAddr, "request", x.event.ID, "error", err}
		if setting := problem.Setting(err); setting != "" {
			attributes = append(attributes, "setting", setting)
		}
		h.config.Log.WarnContext(x.request.Context(), "request failed", attributes...)
	}
}
