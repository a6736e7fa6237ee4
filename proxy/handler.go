// Package proxy serves HTTP: it turns requests into queries and answers into responses,
// and forwards the requests of proxy clients. It enforces access rules and reports the
// outcome of each request; its subpackages make the replies.
package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields but Schemes, Observe, Answered and Begin must be set.
type Config struct {
	Resolver resolver.Resolver
	Names    resolver.Names // the rules for names
	// Ready answers requests for names on the fast path; nil leaves them to Resolver.
	Ready   *resolver.Ready
	History bool           // Resolver knows how names were (RFC 7089)
	Fetch   scheme.Handler // for the forward proxy, and for requests for the resource itself
	Schemes scheme.Infos   // the protocol gateways that Fetch has; nil for none
	Log     *slog.Logger
	Now     func() time.Time
	Access  Access
	Via     message.ViaName // the name of this urnd in Via
	// Forward configures what is forwarded; New sets Fetch, Via, Now, Accept and OwnField.
	Forward  forward.Config
	Policy   *policy.Policy // what proxy clients may ask for; nil allows all
	Spelling Spelling       // of what is sent on for clients of the proxy
	Origins  []Origin       // the sites that urnd is the gateway of
	PAC      PAC
	// BatchTimeout bounds the time of a batch.
	BatchTimeout time.Duration
	// ClientShare is the part of batches that one client may run, as a percentage, and NetworkFactor how many times that,
	// and Access.Rate, the addresses of a /64 network of IPv6 have together; 0 is once.
	ClientShare, NetworkFactor int
	// ListingTTL is the freshness lifetime of the listings of gateways.
	ListingTTL time.Duration
	// Documents bounds the memory of the documents that are made whole, listings above all, from before they are made until
	// they are sent: a client that reads nothing would else hold as many as it has requests. The zero value bounds nothing.
	Documents resolver.Memory
	// ListingSize bounds a document of a listing, in octets, about: its items are cut where they exceed it.
	ListingSize int64
	// RuleTTL is the freshness lifetime of replies that depend on rules alone.
	RuleTTL time.Duration
	// Observe is called at the end of each request; nil is not called. It must not retain
	// the event.
	Observe func(*Event)
	// Passed is called with the reason for each request that the fast path has seen and leaves to ServeHTTP; nil is
	// not called.
	Passed func(fast.Reason)
	// Answered is called with each name that the registry of the site answered, also in batches, by its
	// record; nil is not called. It must be safe for concurrent use.
	Answered func(r *http.Request, record *resolver.Record)
	// Begin begins the span of a request, and returns nil where it is not traced; a nil Begin
	// traces none. mayAsk is whether the traceparent of the request may demand a span.
	Begin func(r *http.Request, at time.Time, mayAsk bool) Span
	// Untraced counts a request for which Begin would begin no span, and returns false where it would; where it is nil,
	// the fast path leaves all requests to Begin.
	Untraced func() bool
	// Identify sends a request identifier in each response; those of failures and batches always have one.
	Identify bool
	// Unhealthy reports whether a location should be avoided where there are others; nil avoids none.
	Unhealthy func(location string) bool
	// MaxTarget bounds a request-target, in octets.
	MaxTarget int
	// RedirectTLS redirects requests without TLS to https, at TLSPort, "" for its default.
	RedirectTLS bool
	TLSPort     string
	// Panicked is called with a panic of a handler, and its stack.
	Panicked func(value any, stack []byte)
	// SecurityContact is the contact of security.txt, a URI; "" serves none.
	SecurityContact string
}

// Handler answers the requests of clients. It is safe for concurrent use.
type Handler struct {
	config  Config
	answers *answer.Responder
	forward *forward.Proxy
	gateway gateway
	pac     *answer.Static // nil for none

	statics   map[string]*answer.Static
	rates     *rates   // nil where there is no limit
	guesses   *Guesses // of passwords
	exchanges sync.Pool
	fastPath  fastPath
}

// either returns what reports what one of two functions does; b may be nil.
func either(a, b func(string) bool) func(string) bool {
	if b == nil {
		return a
	}
	return func(location string) bool { return a(location) || b(location) }
}

// New returns a Handler.
func New(config Config) *Handler {
	failures := forward.NewFailures(config.Now)
	h := &Handler{
		config: config, statics: answer.Statics(), guesses: NewGuesses(config.Now),
		fastPath: fastPath{seed: maphash.MakeSeed()},
		answers: answer.New(answer.Config{
			Resolver: config.Resolver, Names: config.Names, Now: config.Now, RuleTTL: config.RuleTTL,
			Failing: either(failures.Failing, config.Unhealthy), MaxTarget: config.MaxTarget, Panicked: config.Panicked,
			ClientShare: config.ClientShare, NetworkFactor: config.NetworkFactor, BatchTimeout: config.BatchTimeout, History: config.History,
		}),
	}
	outgoing := config.Forward
	outgoing.Fetch = presenting{
		Handler: failures.Observe(config.Fetch), ttl: config.ListingTTL, most: config.ListingSize, documents: &documents{memory: config.Documents},
		schemes: config.Schemes, large: make(resolver.Slots, runtime.GOMAXPROCS(0)),
	}
	outgoing.Via, outgoing.Now = config.Via, config.Now
	outgoing.Accept = answer.ListingAccept
	if config.Identify {
		outgoing.OwnField = message.RequestIDField
	}
	h.forward = forward.New(outgoing)
	h.pac = config.PAC.static()
	h.gateway = newGateway(config.Origins, failures.Failing)
	if config.Access.Rate > 0 {
		h.rates = newRates(config.Access.Rate, config.Access.Rate, max(config.NetworkFactor, 1), config.Now)
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
	completed := false
	defer func() { //nolint:contextcheck // the exchange has the request's
		h.end(x, start, completed || h.answerPanic(x, recover()))
	}()
	h.traced(x, start) //nolint:contextcheck // the exchange has the request's
	completed = true
}

// answerPanic reports a panic, and answers the exchange. It returns false where that has begun
// a response already, which is cut off then.
func (h *Handler) answerPanic(x *exchange, value any) bool {
	if value == http.ErrAbortHandler { //nolint:errorlint // it is this value, of httputil: the origin or the client has gone
		return false
	}
	h.config.Panicked(value, debug.Stack())
	if x.event.Status != 0 {
		return false
	}
	h.fail(x, fmt.Errorf("%w: %v", errPanic, value))
	return true
}

var errPanic = errors.New("handling the request panicked")

// report logs an error that the client has not caused, and refusals of the guard. Workers of
// a batch call it in parallel: it changes nothing.
func (h *Handler) report(x *exchange, err error) {
	h.reportAs(x, "request failed", problem.Status(err), err)
}

// reportAs is report with a message, and with the status that is sent, which is 200 for an
// answer that err makes incomplete.
func (h *Handler) reportAs(x *exchange, message string, sent int, err error) {
	status := problem.Status(err)
	forbidden := errors.Is(err, netguard.ErrForbidden)
	failed := status >= http.StatusInternalServerError && status != http.StatusNotImplemented && !errors.Is(err, context.Canceled) && !errors.As(err, new(*resolver.Negative))
	if failed || forbidden {
		attributes := []any{"status", sent, "client", x.client.Addr, "request", x.event.ID, "error", err}
		if x.forwards() {
			attributes = append(attributes, "method", x.request.Method, "host", cmp.Or(fetchedFrom(err), x.request.URL.Host, x.request.Host))
		}
		if setting := problem.Setting(err); setting != "" {
			attributes = append(attributes, "setting", setting)
		}
		if detail := netguard.Detail(err); detail != "" {
			attributes = append(attributes, "detail", detail)
		}
		h.config.Log.WarnContext(x.request.Context(), message, attributes...)
	} else if sent >= http.StatusBadRequest { // without the input, which may have a password in a form that is not recognized
		h.config.Log.DebugContext(x.request.Context(), "request refused", "status", sent, "client", x.client.Addr, "request", x.event.ID, "reason", problem.New(err).Detail)
	}
}
