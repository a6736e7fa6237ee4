// Package answer renders the answers of the resolver as replies: redirects, lists, descriptions, linksets,
// mementos, the JSON documents of the API, and batches. A parsed request (route.Request) enters; a message.Reply
// or an error of package problem leaves. The services are those of RFC 2483 section 4; redirects and content
// negotiation follow RFC 9110, linksets RFC 9264, mementos RFC 7089.
package answer

import (
	"cmp"
	"context"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// Config configures a Responder. All fields but DescribedPrefixes, Handles, History, LookupNames and Support must be
// set.
type Config struct {
	Resolver resolver.Resolver
	Names    resolver.Names // rules of the namespaces
	Now      func() time.Time
	// RuleTTL is the freshness lifetime of replies that depend on rules only.
	RuleTTL time.Duration
	// DescribedPrefixes are prefixes of the canonical names that return their descriptions, instead of a redirect, to
	// clients that prefer these by Accept.
	DescribedPrefixes []string
	// Handles maps handles to names of the registry; nil disables them.
	Handles route.Handles
	// History returns the versions of names in the registry (RFC 7089); nil without a registry.
	History resolver.History
	// LookupNames returns the public data of names in the registry, in the order of names: the zero value for a
	// name without public data. nil without a registry.
	LookupNames func(ctx context.Context, names []string) ([]resolver.NameSummary, error)
	// Support is the site's commitment to names that have none of their own; empty fields are unknown.
	Support Support
	// Failing reports whether the server of a location has failed in the last 30 seconds, or the location is
	// known to be unhealthy: others are preferred.
	Failing func(location string) bool
	// MaxTarget limits a URI of a batch, in bytes.
	MaxTarget int
	// BatchTimeout limits the duration of a batch.
	BatchTimeout time.Duration
	// ClientQuotaPercent is the per-client quota of concurrent batches, as a percentage, and NetworkFactor its
	// multiple for an IPv6 /64 network; 0 is 1.
	ClientQuotaPercent, NetworkFactor int
	// Pages renders the HTML pages.
	Pages *pages.Design
	// Panicked is called with the value and the stack of a panic that occurs while a name of a batch is
	// resolved.
	Panicked func(value any, stack []byte)
}

// Responder replies to requests about identifiers. It is safe for concurrent use.
type Responder struct {
	config  Config
	batches quota.Limit // limit of concurrent batches
}

// New returns a Responder.
func New(config Config) *Responder {
	of := quota.ClientQuota{
		Percent: config.ClientQuotaPercent, NetworkFactor: config.NetworkFactor,
		Busy: problem.ErrTooManyBatches,
	}
	return &Responder{config: config, batches: quota.Limit{Busy: problem.ErrTooManyBatches}.Resized(maxBatches, of)}
}

// Request is a parsed request, with the header fields that the reply depends on.
type Request struct {
	*route.Target
	Header httpmessage.Header
	HTTP11 bool // the client supports HTTP/1.1
	IsName bool // the identifier is a name, not a location
	IsLink bool // the identifier is one in a web address (GS1 Digital Link)
	// Base is the absolute URL of this server, without a trailing slash; "" if unknown.
	Base string
	// Scratch is a buffer for the reply, which is valid until the buffer is reused; nil allocates a new one.
	Scratch *message.Scratch
}

func (q *Request) scratch() *message.Scratch {
	if q.Scratch == nil {
		return new(message.Scratch)
	}
	return q.Scratch
}

// writer returns the writer of pages in the selected language, or else in that of Accept-Language.
func (a *Responder) writer(q *Request) pages.Writer {
	if q.Language != "" {
		return a.config.Pages.For(pages.Chosen(q.Language))
	}
	return a.config.Pages.For(q.Header.List(pages.Vary))
}

// Reply replies to a request for one of the services of RFC 2483 section 4, except I2R and I2Rs, which
// retrieve the resource itself.
func (a *Responder) Reply(ctx context.Context, q *Request) (message.Reply, error) {
	switch {
	case q.Form == route.FormHandle:
		return a.handle(ctx, q)
	case q.Form == route.FormMemento:
		return a.mementoResource(ctx, q)
	case q.Form == route.FormAPI, wantsTrace(q.Header) && q.Query.Service.Locates():
		return a.document(ctx, q)
	case q.Inflection != route.NoInflection:
		return a.inflected(ctx, q)
	case a.isIdentifier(q):
		return a.identifier(ctx, q)
	}
	q, err := a.atDatetime(ctx, q)
	if err != nil {
		return message.Reply{}, err
	}
	return a.serve(ctx, q)
}

// serve replies to a request by its service.
func (a *Responder) serve(ctx context.Context, q *Request) (message.Reply, error) {
	switch q.Query.Service {
	case resolver.I2Ls:
		return a.locations(ctx, q)
	case resolver.I2C, resolver.I2Cs:
		return a.description(ctx, q)
	case resolver.I2N, resolver.I2Ns:
		return a.names(ctx, q)
	case resolver.IisI:
		return a.equivalence(q)
	default:
		if q.IsName {
			return a.named(ctx, q)
		}
		return a.redirect(ctx, q)
	}
}

// named replies to a request for a name itself: with a redirect to its location, or a format that the client
// prefers. The names of other authorities are redirected: their servers negotiate by the client's Accept.
func (a *Responder) named(ctx context.Context, q *Request) (message.Reply, error) {
	if !MayWantDocument(q.Header.List("Accept"), len(a.config.DescribedPrefixes) > 0) {
		return a.redirect(ctx, q)
	}
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	hasType := func(mediaType string) bool {
		return slices.ContainsFunc(answer.Locations, func(l resolver.Location) bool {
			kind, _, err := mime.ParseMediaType(l.From.Type) // it may have parameters, such as a profile
			return err == nil && kind == mediaType
		})
	}
	chosen := preferred(parseAccept(q.Header),
		recordOf(answer, err) != nil && a.describes(answer.Name.String()), hasType)
	switch {
	case chosen != nil && chosen.isLinkset():
		return a.linkset(ctx, q, chosen)
	case chosen != nil:
		described := *q
		target := *q.Target
		target.Query.Service, target.Format = resolver.I2C, chosen.name
		described.Target = &target
		return a.description(ctx, &described)
	case err != nil:
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	default:
		return a.Redirect(q, answer), nil
	}
}

// describes reports whether a canonical name returns its description to clients that prefer it.
func (a *Responder) describes(name string) bool {
	return slices.ContainsFunc(a.config.DescribedPrefixes,
		func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}

// redirect redirects a client to one location. It is the hot path of cached redirects.
func (a *Responder) redirect(ctx context.Context, q *Request) (message.Reply, error) {
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	return a.Redirect(q, answer), nil
}

// Redirect returns the redirect to one location of an answer, which must have at least one.
func (a *Responder) Redirect(q *Request, answer resolver.Answer) message.Reply {
	chosen, vary := a.choose(q.Header, answer.Locations)
	if q.IsName {
		vary = varyOfNames(vary)
	}
	scratch := q.scratch()
	reply := message.Redirect(RedirectStatus(q.Form, q.HTTP11, answer.Record()), chosen.URI, vary, answer,
		&scratch.Text)
	scratch.Body = pages.AppendRedirectBody(scratch.Body, chosen.URI)
	reply.ContentType, reply.Body, reply.Fields = pages.ContentType, scratch.Body, scratch.EmptyFields()
	if !q.IsName {
		return reply.WithRecord(answer.Record())
	}
	appendLinks := AppendLinks
	if q.IsLink {
		appendLinks = AppendIdentifierLinks
	}
	start, dst := scratch.Text.Begin()
	reply.AddLink(scratch.Text.End(start, appendLinks(dst, q.Base, answer.Name.String())))
	return withRecord(reply, q.Base, answer.Record())
}

// varyOfNames returns the value of Vary for a redirect of a name, given that of the choice of a location. It
// includes Accept, since clients may prefer a linkset or a description.
func varyOfNames(vary string) string {
	if vary == languageField {
		return "Accept, " + languageField
	}
	return cmp.Or(vary, "Accept")
}

const languageField = "Accept-Language"

// negotiate returns the type that a client prefers, and the first one if it accepts none: RFC 9110 section
// 12.4.1 allows a server to disregard Accept.
func negotiate(header httpmessage.Header, types []contenttype.MediaType) contenttype.MediaType {
	chosen, err := accepted(header, types)
	if err != nil {
		return types[0]
	}
	return chosen
}

// accepted returns the type that a client prefers: the first one if the request has no Accept field (RFC 9110
// section 12.5.1).
func accepted(header httpmessage.Header, types []contenttype.MediaType) (contenttype.MediaType, error) {
	accept := header.List("Accept")
	if accept == "" {
		return types[0], nil
	}
	best, _, err := contenttype.GetAcceptableMediaTypeFromHeader(accept, types)
	return best, err
}

// shown returns a negotiated page.
func shown(p pages.Page, answer resolver.Answer) message.Reply {
	return negotiated("", nil, answer).WithPage(message.Page(p))
}

// negotiated returns a document of a negotiated type.
func negotiated(contentType string, body []byte, answer resolver.Answer) message.Reply {
	reply := message.Document(contentType, body, answer)
	reply.Vary = "Accept"
	return reply
}
