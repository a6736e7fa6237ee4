// Package answer renders answers of the resolver as replies: redirects, lists,
// descriptions, the JSON document of the API, and batches.
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

// Config configures a Responder. All fields but History and Known must be set.
type Config struct {
	Resolver resolver.Resolver
	Names    resolver.Names // the rules for names
	Now      func() time.Time
	// RuleTTL is the freshness lifetime of replies that depend on rules alone.
	RuleTTL time.Duration
	// Described are what the canonical names begin with that answer with their descriptions by Accept, in place of a redirect.
	Described []string
	// Handles are those that are names of the registry; nil has none.
	Handles route.Handles
	// History knows the versions of names in the registry (RFC 7089); nil where there is none.
	History resolver.History
	// Known returns what the registry says of names, in their order: the zero value for those of which it says nothing to all. nil where there
	// is no registry.
	Known func(ctx context.Context, names []string) ([]resolver.ListedName, error)
	// Support is what the site commits itself to, for names that say nothing else; what is empty is not known.
	Support Support
	// Failing reports whether the server of a location failed in the last 30 seconds, or the location is known
	// to be unhealthy: others are preferred.
	Failing func(location string) bool
	// MaxTarget bounds a URI of a batch, in octets.
	MaxTarget int
	// BatchTimeout bounds the time of a batch.
	BatchTimeout time.Duration
	// ClientShare is the part of batches that one client may run, as a percentage, and NetworkFactor how many times that
	// the addresses of a /64 network of IPv6 may run; 0 is once.
	ClientShare, NetworkFactor int
	// Pages makes the pages.
	Pages *pages.Design
	// Panicked is called with a panic over a name of a batch, and its stack.
	Panicked func(value any, stack []byte)
}

// Responder answers questions about identifiers. It is safe for concurrent use.
type Responder struct {
	config  Config
	batches quota.Limit // that run at the same time
}

// New returns a Responder.
func New(config Config) *Responder {
	of := quota.PerClient{Percent: config.ClientShare, NetworkFactor: config.NetworkFactor, Busy: problem.ErrBatches}
	return &Responder{config: config, batches: quota.Limit{Busy: problem.ErrBatches}.Resized(maxBatches, of)}
}

// Question is a parsed request, with the lines of the fields that the reply depends on.
type Question struct {
	*route.Target
	Lines  httpmessage.Lines
	HTTP11 bool // the client speaks HTTP/1.1 or later
	IsName bool // the question is about a name, and not about a location
	IsLink bool // it is about an identifier in a web address
	// Base is the absolute URL of this server, without a slash at its end; "" where it is not known.
	Base string
	// Scratch is memory for the reply, which is valid until it is used again; nil gives the reply its own.
	Scratch *message.Scratch
}

func (q *Question) scratch() *message.Scratch {
	if q.Scratch == nil {
		return new(message.Scratch)
	}
	return q.Scratch
}

// writer returns what makes pages in the language that the client accepts, or its reader has chosen.
func (a *Responder) writer(q *Question) pages.Writer {
	if q.Language != "" {
		return a.config.Pages.For(pages.Chosen(q.Language))
	}
	return a.config.Pages.For(q.Lines.List(pages.Vary))
}

// Reply answers a question by the services of RFC 2483 section 4, except I2R and I2Rs,
// which retrieve the resource itself.
func (a *Responder) Reply(ctx context.Context, q *Question) (message.Reply, error) {
	switch {
	case q.Form == route.FormHandle:
		return a.handle(ctx, q)
	case q.Form == route.FormMemento:
		return a.moment(ctx, q)
	case q.Form == route.FormAPI, wantsTrace(q.Lines) && q.Query.Service.Locates():
		return a.document(ctx, q)
	case q.Inflection != route.NotInflected:
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

// serve answers a question by its service.
func (a *Responder) serve(ctx context.Context, q *Question) (message.Reply, error) {
	switch q.Query.Service {
	case resolver.I2Ls:
		return a.locations(ctx, q)
	case resolver.I2C, resolver.I2Cs:
		return a.description(ctx, q)
	case resolver.I2N:
		return a.names(ctx, q, 1)
	case resolver.I2Ns:
		return a.names(ctx, q, maxNames)
	case resolver.IisI:
		return a.equivalence(q)
	default:
		if q.IsName {
			return a.named(ctx, q)
		}
		return a.redirect(ctx, q)
	}
}

// named answers for a name itself: with a redirect to its location, or in a format that the client would rather have. What other authorities
// say of their names is for their servers to answer, which get the client's Accept.
func (a *Responder) named(ctx context.Context, q *Question) (message.Reply, error) {
	if !MayWantDocument(q.Lines.List("Accept"), len(a.config.Described) > 0) {
		return a.redirect(ctx, q)
	}
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	hasType := func(mediaType string) bool {
		return slices.ContainsFunc(answer.Locations, func(l resolver.Location) bool {
			kind, _, err := mime.ParseMediaType(l.From.Type) // it may have a profile
			return err == nil && kind == mediaType
		})
	}
	chosen := preferred(parseAccept(q.Lines), recordOf(answer, err) != nil && a.describes(answer.Name.String()), hasType)
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
		return message.Reply{}, problem.About(err, q.Query.URI)
	default:
		return a.Redirect(q, answer), nil
	}
}

// describes reports whether a canonical name answers with its description, if a client prefers that.
func (a *Responder) describes(name string) bool {
	return slices.ContainsFunc(a.config.Described, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}

// redirect sends a client to one location. It is the hot path, of every cached redirect.
func (a *Responder) redirect(ctx context.Context, q *Question) (message.Reply, error) {
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	if err != nil {
		return message.Reply{}, problem.About(err, q.Query.URI)
	}
	return a.Redirect(q, answer), nil
}

// Redirect returns the reply that sends a client to one location of an answer, which has some.
func (a *Responder) Redirect(q *Question, answer resolver.Answer) message.Reply {
	chosen, vary := a.choose(q.Lines, answer.Locations)
	if q.IsName {
		vary = varyOfNames(vary)
	}
	scratch := q.scratch()
	reply := message.Redirect(RedirectStatus(q.Form, q.HTTP11, answer.Record()), chosen.URI, vary, answer, &scratch.Text)
	scratch.Body = pages.AppendMoved(scratch.Body, chosen.URI)
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

// varyOfNames returns the Vary field of what a name answers, with that of the choice of a location: clients that prefer a linkset, or a
// description where the name has it, get these.
func varyOfNames(vary string) string {
	if vary == languageField {
		return "Accept, " + languageField
	}
	return cmp.Or(vary, "Accept")
}

const languageField = "Accept-Language"

// negotiate returns the type that a client accepts best, and the first one where it
// accepts none: RFC 9110 section 12.4.1 allows to disregard Accept.
func negotiate(lines httpmessage.Lines, types []contenttype.MediaType) contenttype.MediaType {
	chosen, err := accepted(lines, types)
	if err != nil {
		return types[0]
	}
	return chosen
}

// accepted returns the type that a client accepts best: the first one where the request has
// no Accept field (RFC 9110 section 12.5.1).
func accepted(lines httpmessage.Lines, types []contenttype.MediaType) (contenttype.MediaType, error) {
	accept := lines.List("Accept")
	if accept == "" {
		return types[0], nil
	}
	best, _, err := contenttype.GetAcceptableMediaTypeFromHeader(accept, types)
	return best, err
}

// shown returns a page that was negotiated.
func shown(p pages.Page, answer resolver.Answer) message.Reply {
	return negotiated("", nil, answer).WithPage(message.Page(p))
}

// negotiated returns a document of a type that was negotiated.
func negotiated(contentType string, body []byte, answer resolver.Answer) message.Reply {
	reply := message.Document(contentType, body, answer)
	reply.Vary = "Accept"
	return reply
}
