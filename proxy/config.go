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

// Config configures a Handler. All fields but History and those of observers must be set.
type Config struct {
	Log *slog.Logger
	Now func() time.Time
	Via httpmessage.ViaName // the name of this urnd in Via

	// What answers: names, and other servers.

	Resolver resolver.Resolver
	Names    resolver.Names // the rules for names
	// Finder answers requests for names from the cache without waiting; nil leaves them to Resolver.
	Finder  *resolver.Finder
	History resolver.History // knows the versions of names (RFC 7089); nil where there is no registry
	Fetch   scheme.Handler   // for the forward proxy, and for requests for the resource itself
	Schemes scheme.Infos     // the protocol gateways that Fetch has; nil for none
	// Forward configures what is forwarded; New sets Fetch, Via, Now and Accept.
	Forward forward.Config
	Sites   []Site // the sites that urnd is the gateway of
	// Failures are the servers that fail, of this handler and of others; nil are those of this one.
	Failures *forward.Failures
	// Hosts are the web hosts whose paths are names of the registry. Own has them, too.
	Hosts []string
	// Identifiers are the resolvers of identifiers in web addresses, by the roots in Names. Hosts has theirs.
	Identifiers []gs1.Site

	// Known returns what the registry says of names; nil where there is none.
	Known func(ctx context.Context, names []string) ([]resolver.ListedName, error)
	// Lists lists the names of the registry; the zero value lists none.
	Lists answer.Lists

	// Described are what the canonical names of the registry begin with that answer with their descriptions, in place of a redirect, to clients
	// that prefer these by Accept.
	Described []string
	// Handles are those that are names of the registry; nil has none.
	Handles route.Handles

	// What is asked, and by whom.

	Own       route.OwnHosts
	Access    gate.Access
	Policy    *policy.Policy // what clients of the proxy may ask for; nil allows all
	Spelling  route.Spelling // of what is sent on for clients of the proxy
	MaxTarget int            // bounds a request-target, in octets
	// RedirectTLS redirects requests without TLS to https, at TLSPort, "" for its default.
	RedirectTLS bool
	TLSPort     string
	// HSTS is the field Strict-Transport-Security of responses over TLS (RFC 6797), "" for none.
	HSTS string
	// Challenge returns what an authority that is asked for a certificate expects at a path (RFC 8555 section 8.3), and false where it expects
	// nothing there: the path is then like any other. nil is for no authority.
	Challenge func(ctx context.Context, path string) (text string, ok bool)
	// PublicURL is the URL by which clients reach this server, without a slash at its end; "" is the one that they use.
	PublicURL string
	// ClientShare is the part of batches that one client may run, as a percentage, and NetworkFactor how many times that,
	// and Access.Rate, the addresses of a /64 network of IPv6 have together; 0 is once.
	ClientShare, NetworkFactor int

	// Replies.

	CORS []string // the origins whose pages may read what is public; "*" is all
	PAC  answer.PAC
	// SecurityContact is the contact of security.txt, a URI; "" serves none.
	SecurityContact string
	Pages           *pages.Design // nil: those of urnd without settings
	BatchTimeout    time.Duration
	// Support is what the site commits itself to for its names, in descriptions of ARKs.
	Support answer.Support
	// RuleTTL is the freshness lifetime of replies that depend on rules alone, and ListingTTL that of the listings of protocol
	// gateways. ListingSize bounds a document of a listing, in octets, about.
	RuleTTL, ListingTTL time.Duration
	ListingSize         int64
	// Documents bounds the memory of the documents that are made whole, listings above all, from before they are made until
	// they are sent: a client that reads nothing would else hold as many as it has requests. nil bounds nothing.
	Documents *quota.Memory
	// DocumentWait is how long the request of a listing waits for that memory; 0 is five seconds.
	DocumentWait time.Duration
	// Compress compresses responses of sites, and urnd's own documents; nil compresses none.
	Compress *compress.Compressor
	// Tags is the field by which caches in front of urnd purge what they have of a name; the zero value sends none.
	Tags message.Tags
	// Identify sends a request identifier in each response; those of failures and batches always have one.
	Identify bool

	Observers
}

// Observers are told what happens. Each may be nil.
type Observers struct {
	// Observe is called at the end of each request. It must not retain the event.
	Observe func(*Event)
	// Answered is called with each name that the registry of the site answered, also in batches, by its record, and the field
	// User-Agent of the request, which must not be retained. It must be safe for concurrent use.
	Answered func(userAgent string, record *resolver.Record)
	// Begin begins the span of a request, and returns nil where it is not traced; a nil Begin traces none. mayAsk is whether
	// the traceparent of the request may demand a span.
	Begin func(method string, lines httpmessage.Lines, at time.Time, mayAsk bool) Span
	// Untraced counts a request for which Begin would begin no span, and returns false where it would; where it is nil, Begin decides
	// about all requests.
	Untraced func() bool
	// Unhealthy reports whether a location should be avoided where there are others.
	Unhealthy func(location string) bool
	// Panicked is called with a panic of a handler, and its stack. It must be set.
	Panicked func(value any, stack []byte)
}

// Event is the outcome of one request. Its texts are valid until Observe returns.
type Event struct {
	Method, Target, Host, Proto string
	Referer, UserAgent          string
	User                        string     // who has logged in, or else whom the request names; "" for none
	Client                      netip.Addr // the zero value where it has no address
	// Scheme is that of the target URI where the target of the request is only its path: of a site, or by HTTP/2; "" for others.
	Scheme  string
	Server  netip.AddrPort // the origin that has answered the request; the zero value for none, or where it is not known
	Form    string         // the form of the request: "path", "thttp", "forward" ...
	Service resolver.Service
	Cache   string // what the cache did, in one word: "hit", "miss" ...; "" where none was used
	Rule    string // the rule of the site that decided, "" for none
	Status  int    // 0 where the client disconnected, or the server stopped, before there was one
	Bytes   int64  // of the body
	Type    string // the Content-Type of the response
	Took    time.Duration
	ID      string // the request identifier, "" for none
	Err     error  // why the request failed, nil where it did not
	Denied  bool   // a tunnel was ended by what its client has sent in it, after the status: by a rule, or unreadable
}

// Span is the span of a request (OpenTelemetry).
type Span interface {
	// Traceparent returns the traceparent of outgoing requests on behalf of this one.
	Traceparent() string
	// End ends the span with the outcome and steps of the request. It must not retain the event.
	End(e *Event, steps []resolver.Step)
}
