package proxy

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/answer/gs1"
	"github.com/urnd/urnd/proxy/compress"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields must be set, except History, those of Observers, and those whose
// zero value is documented.
type Config struct {
	Log *slog.Logger
	Now func() time.Time
	Via httpmessage.ViaName // the pseudonym of this urnd in Via (RFC 9110 section 7.6.3)

	// Sources of responses: names, and other servers.

	Resolver resolver.Resolver
	Names    resolver.Names // the rules for names
	// Finder answers requests for names from the cache without waiting; nil leaves them to Resolver.
	Finder  *resolver.Finder
	History resolver.History // the versions of names (RFC 7089); nil without a registry
	Fetch   scheme.Handler   // the forward proxy, and retrieval of the resources of names
	Schemes scheme.Infos     // the protocol gateways of Fetch; nil for none
	// Forward configures what is forwarded; New sets Fetch, Via, Now and Accept.
	Forward forward.Config
	Sites   []Site // the sites that urnd is the gateway of
	// Failures records failing servers, and may be shared with other handlers; nil makes a new one.
	Failures *forward.Failures
	// Hosts are the web hosts whose paths are names of the registry. Own must contain them, too.
	Hosts []string
	// Identifiers are the resolvers of identifiers in web addresses (GS1 Digital Link), by the roots in
	// Names. Hosts contains their hosts.
	Identifiers []gs1.Site

	// LookupNames returns the registry's entries of names; nil without a registry.
	LookupNames func(ctx context.Context, names []string) ([]resolver.NameSummary, error)
	// Lists lists the names of the registry; the zero value has no lists.
	Lists answer.Lists

	// DescribedPrefixes are the prefixes of canonical names of the registry for which the response is a description
	// instead of a redirect, if the client prefers one by Accept.
	DescribedPrefixes []string
	// Handles are the handles that are names of the registry; nil for none.
	Handles route.Handles

	// Requests and clients.

	OwnHosts  route.OwnHosts
	Access    gate.Access
	Policy    *policy.Policy // the requests that clients of the proxy may send; nil allows all
	Spelling  route.Spelling // how the URIs of forwarded requests are spelled
	MaxTarget int            // the longest request-target, in bytes
	// RedirectTLS redirects requests without TLS to https, at TLSPort; "" is the default port of https.
	RedirectTLS bool
	TLSPort     string
	// HSTS is the value of Strict-Transport-Security in responses over TLS (RFC 6797), "" for none.
	HSTS string
	// Challenge returns the response to an ACME challenge at a path (RFC 8555 section 8.3). It returns false if there
	// is no challenge for the path, which is then routed like any other. nil for no certificate authority.
	Challenge func(ctx context.Context, path string) (text string, ok bool)
	// PublicURL is the URL by which clients reach this server, without a slash at its end; "" is the one of
	// the request.
	PublicURL string
	// ClientQuotaPercent is the part of the batches that one client may run, as a percentage. NetworkFactor is the
	// multiple of ClientQuotaPercent and of Access.Rate that the addresses of a /64 network of IPv6 have together; 0
	// means 1.
	ClientQuotaPercent, NetworkFactor int

	// Replies.

	CORS []string // the origins whose pages may read public responses; "*" is all
	PAC  answer.PAC
	// SecurityContact is the contact of security.txt, a URI; "" serves none.
	SecurityContact string
	Pages           *pages.Design // nil for the default design
	BatchTimeout    time.Duration
	// Support is the commitment of the site to its names, in descriptions of ARKs.
	Support answer.Support
	// RuleTTL is the freshness lifetime of replies that depend on the rules alone, ListingTTL that of
	// listings of protocol gateways. ListingSize is the approximate limit of a listing, in bytes.
	RuleTTL, ListingTTL time.Duration
	ListingSize         int64
	// DocumentMemory limits the memory of documents that are rendered as a whole, above all listings, from before
	// they are rendered until they are sent: else a client that reads nothing would hold a document for each
	// of its requests. nil is no limit.
	DocumentMemory *quota.Memory
	// DocumentWait is how long the request of a listing waits for that memory; 0 means five seconds.
	DocumentWait time.Duration
	// Compress compresses responses of sites and urnd's own documents; nil compresses none.
	Compress *compress.Compressor
	// Tags is the header field by which caches in front of urnd purge the responses for a name; the zero
	// value sends none.
	Tags message.Tags
	// SendRequestID sends a request identifier in each response. Responses to failures and batches always have one.
	SendRequestID bool

	Observers
}

// Observers are called with events of requests. Each may be nil but Panicked.
type Observers struct {
	// Observe is called at the end of each request. It must not retain the event.
	Observe func(*Event)
	// Answered is called with the record of each name that the registry of the site resolved, also in batches, and the
	// User-Agent of the request, which must not be retained. It must be safe for concurrent use.
	Answered func(userAgent string, record *resolver.Record)
	// StartSpan starts the span of a request, and returns nil if the request is not traced; a nil StartSpan traces
	// none. mayAsk is whether the traceparent of the request may demand a span.
	StartSpan func(method string, header httpmessage.Header, at time.Time, mayAsk bool) Span
	// SkipSpan counts a request for which StartSpan would start no span and returns true. It returns false if
	// StartSpan would start one. If SkipSpan is nil, StartSpan decides about all requests.
	SkipSpan func() bool
	// Unhealthy reports whether a location should be avoided if there are others.
	Unhealthy func(location string) bool
	// Panicked is called with the value and the stack of a panic of a handler. It must be set.
	Panicked func(value any, stack []byte)
}

// Event is the outcome of one request. Its strings are valid until Observe returns.
type Event struct {
	Method, Target, Host, Proto string
	Referer, UserAgent          string
	User                        string     // who has logged in, or else the user that the request names; "" for none
	Client                      netip.Addr // the zero value if the client has no IP address
	// Scheme is the scheme of the target URI if the request-target is only a path: for a site, or by HTTP/2; else "".
	Scheme   string
	Server   netip.AddrPort // the origin that sent the response; the zero value for none or unknown
	Form     string         // the form of the request: "path", "thttp", "forward" ...
	Service  resolver.Service
	Cache    string // the result of the cache: "hit", "miss" ...; "" if no cache was used
	Rule     string // the identifier of the rule of the site that decided, "" for none
	Status   int    // 0 if the client disconnected, or the server stopped, before a response began
	Bytes    int64  // of the body, sent
	Type     string // the Content-Type of the response
	Duration time.Duration
	ID       string // the request identifier, "" for none
	Err      error  // why the request failed; nil for success
	Denied   bool   // a tunnel was closed after its status: its first bytes were denied or unreadable
}

// Span is the span of a request (OpenTelemetry).
type Span interface {
	// Traceparent returns the traceparent of outgoing requests on behalf of this one.
	Traceparent() string
	// End ends the span with the outcome and steps of the request. It must not retain the event.
	End(e *Event, steps []resolver.Step)
}
