package proxy

import (
	"cmp"
	"errors"
	"io"
	"net/http"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// serve serves an admitted request. If it returns an error, nothing was sent.
func (x *exchange) serve() error {
	switch a := &x.request; a.Kind {
	case route.KindSite, route.KindForward:
		return x.serveForward()
	case route.KindTunnel:
		return x.serveTunnel()
	case route.KindPurge:
		return x.replied(x.purge())
	case route.KindFetch:
		return x.suggest(x.fetchError(x.serveFetch()))
	case route.KindBatch:
		return x.replied(x.batch())
	case route.KindDocument:
		return x.replied(x.document())
	case route.KindServer:
		return x.replied(message.Reply{Status: http.StatusOK, CacheControl: message.NoStore}, nil)
	case route.KindHTTPSRedirect:
		return x.replied(message.Reply{
			Status: http.StatusPermanentRedirect, Location: a.Location,
			CacheControl: "max-age=3600",
		}, nil)
	default:
		return x.serveOwn()
	}
}

// replied sends the reply, or returns the error if it is not nil.
func (x *exchange) replied(r message.Reply, err error) error {
	if err == nil {
		x.reply(r)
	}
	return err
}

// serveOwn answers a request about an identifier, or for the front page.
func (x *exchange) serveOwn() error {
	a := &x.request
	switch {
	case a.Method == http.MethodOptions && a.Kind == route.KindName && a.Err == nil:
		return x.replied(x.options())
	case !a.IsGet:
		return problem.NotAllowed(a.Method, a.Methods())
	case a.Err != nil:
		return x.identifierError(a.Err)
	case a.Kind == route.KindPage:
		return x.replied(x.page(&a.Target))
	case x.redirectsToFetch():
		return x.redirectTo(route.FetchTargetIn(a.Target.Query.URI.String(), a.Target.Language))
	case a.Retrieves:
		return x.nameError(x.replied(x.retrieve()))
	}
	x.answerRequest = answer.Request{
		Target: &a.Target, Header: x.header, HTTP11: x.in.AtLeast(1, 1), IsName: a.IsName, Base: x.base(),
		Scratch: &x.scratch,
	}
	return x.nameError(x.replied(x.handler.answers.Reply(x.ctx, &x.answerRequest)))
}

// redirectTo redirects to a page of this server. It is used for requests of browsers only.
func (x *exchange) redirectTo(target string) error {
	return x.replied(message.Reply{
		Status: http.StatusFound, Location: x.handler.config.Pages.Path(target), CacheControl: message.NoStore,
		Vary: "Accept",
	}, nil)
}

// options returns the reply to OPTIONS for a name. It does not resolve the name, which would be costly and is
// the purpose of GET.
func (x *exchange) options() (reply message.Reply, err error) {
	canonical, err := x.handler.config.Names.CanonicalName(x.request.Target.Query.URI)
	if err != nil {
		return reply, x.suggest(err)
	}
	if x.request.IsLink {
		return answer.IdentifierOptions(x.base(), canonical.String()), nil
	}
	reply = answer.Options(&x.request, x.base(), canonical.String())
	if x.request.Target.Form == route.FormMemento { // TimeGates and the like are no names
		reply.Fields.Del("Link")
	}
	return reply, nil
}

// writer returns the page writer for the language that the client accepts, or that the reader has chosen.
func (x *exchange) writer() pages.Writer {
	return x.handler.config.Pages.For(withChosenLanguage(x.header, &x.request).List(pages.Vary))
}

// chosen returns the replacement of Accept-Language if the reader has chosen a language, else "".
func (x *exchange) chosen() string {
	if x.request.Target.Language == "" {
		return ""
	}
	return pages.Chosen(x.request.Target.Language)
}

// withChosenLanguage returns the request header with Accept-Language replaced by the language that the reader has
// chosen, if any.
func withChosenLanguage(header httpmessage.Header, a *route.Request) httpmessage.Header {
	language := a.Target.Language
	if language == "" {
		return header
	}
	return func(name string) []string {
		if name == pages.Vary {
			return []string{pages.Chosen(language)}
		}
		return header.Values(name)
	}
}

// isHome reports whether the target is the root of a web host whose paths are names: the front page, unless
// it is a name.
func isHome(a *route.Request) bool { return a.Target.Form == route.FormHost && a.Path == "/" }

// nameError handles the error of a request about a name; nil for nil. The root of a web host that is no name
// gets the front page. A name that is followed by a preview suffix gets the page about the name without it.
func (x *exchange) nameError(err error) error {
	var n *resolver.Negative
	switch {
	case err == nil:
		return nil
	case isHome(&x.request) && errors.As(err, &n) && errors.Is(n.Kind, resolver.ErrNotFound):
		x.reply(x.home(true))
		return nil
	case x.preview(err):
		return nil
	default:
		return x.identifierError(err)
	}
}

// redirectsToFetch reports whether an address that a person typed on the front page is shown by /fetch, because
// browsers do not support its scheme.
func (x *exchange) redirectsToFetch() bool {
	a := &x.request
	return a.Kind == route.KindRedirect && a.Target.Typed && problem.PrefersHTML(x.header) &&
		x.handler.config.Schemes.Browsable(a.Target.Query.URI.Scheme())
}

// identifierError handles the error of a request about an identifier: words that may be from a title redirect to the
// list of names; for all else it returns the error with suggestions.
func (x *exchange) identifierError(err error) error {
	t := &x.request.Target
	if err = x.suggest(err); x.redirectsToNames(err) {
		return x.redirectTo(route.NameSearchTarget(t.Text, t.Language))
	}
	return err
}

// redirectsToNames reports whether a text typed on the front page, which is no identifier nor similar to one, is
// searched for in titles. The client must have the right to list names.
func (x *exchange) redirectsToNames(err error) bool {
	t := &x.request.Target
	var f *problem.Failure
	return t.MayBeTitle() && errors.As(err, &f) && len(f.Suggestions) == 0 && problem.PrefersHTML(x.header) &&
		x.handler.config.Lists.Search != nil && x.handler.gate.MayBrowse(&x.client, &x.request)
}

// document returns the reply to a request for a fixed document.
func (x *exchange) document() (message.Reply, error) {
	h := x.handler
	switch path := x.request.Path; {
	case x.request.Method == http.MethodOptions:
		return answer.ResourceOptions(&x.request), nil
	case path == answer.PathSecurity:
		return answer.Security(h.config.SecurityContact, h.config.Now()), nil
	case path == answer.PathCatalog:
		return answer.Catalog(x.base(), x.request.Host != "", x.header), nil
	case path == pages.PathOpenSearch && x.request.Host == "":
		return answer.OpenSearch(x.base(), h.config.Pages, x.header)
	case h.hostStatics[x.request.Host][path] != nil:
		return h.hostStatics[x.request.Host][path].Reply(x.header), nil
	case x.request.Host != "" && path == answer.PathRobots:
		return h.hostRobots.Reply(x.header), nil
	default:
		return h.statics[path].Reply(x.header), nil
	}
}

// batch resolves many names in one request.
func (x *exchange) batch() (message.Reply, error) {
	h := x.handler
	x.identify() // because the names of the batch may fail concurrently
	rights := answer.BatchRights{
		URLs:       x.mayRedirectToURLs(),
		Allow:      func() bool { return h.gate.AllowsRate(x.client.Addr) },
		WithClient: x.withClient,
		Report:     x.report,
		Answered:   x.answered,
	}
	body := cmp.Or(x.in.Body, io.Reader(http.NoBody))
	return h.answers.Batch(x.ctx, &answer.BatchRequest{
		Target: x.request.Path, Header: x.header, Body: body, SetReadDeadline: x.SetReadDeadline,
	}, rights)
}

// suggest adds suggestions to an error about a text that is no identifier, a name of an unknown namespace, or
// a name with raw bytes.
func (x *exchange) suggest(err error) error {
	return suggest(&x.request, err, x.handler.config.Names)
}

// suggest is the function behind exchange.suggest.
func suggest(a *route.Request, err error, names resolver.Names) error {
	t := &a.Target
	if a.Err != nil && t.Form == route.FormPath && t.Text != "" && !t.Identified {
		if t.LooksLikePage() {
			err = problem.ErrNoPage
		}
		return &problem.Failure{Err: err, Input: t.Text, Typed: t.Text, Suggestions: names.Suggest(t.Text)}
	}
	if text, ok := rawName(t, err); ok {
		return &problem.Failure{Err: err, Input: text, Suggestions: names.Suggest(text)}
	}
	if t.Form != route.FormPath || !isMistyped(t, err, names) {
		return err
	}
	text := t.Query.URI.String()
	return &problem.Failure{Err: err, Input: text, Typed: t.Text, Suggestions: names.Suggest(cmp.Or(t.Text, text))}
}

// isMistyped reports whether an error is about a URI that may be a typing error: malformed, of an unknown
// namespace, even if the DNS could not be reached to confirm that, or of a scheme that is not resolved.
func isMistyped(t *route.Target, err error, names resolver.Names) bool {
	var n *resolver.Negative
	switch {
	case errors.As(err, new(*uri.ParseError)):
		return !t.Identified
	case !t.Query.IsURN():
		return errors.As(err, &n) && (n.Unclaimed || errors.Is(err, resolver.ErrService))
	case errors.As(err, &n):
		return n.Unclaimed
	}
	_, known := names.Set.Lookup(t.Query.NID())
	return !known && errors.Is(err, resolver.ErrUnreachable)
}
