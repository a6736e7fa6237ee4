package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// route dispatches a request by its raw request-target: http.ServeMux would clean "//" and
// "..", and redirect "urn:".
func (h *Handler) route(x *exchange) {
	r := x.request
	if err := h.check(x); err != nil {
		h.fail(x, err)
		return
	}
	if h.config.Access.wantsFresh(x.client, r.Header) {
		x.withContext(resolver.WithFresh(x.request.Context()))
		r = x.request
	}
	target := h.ownTarget(r)
	site := h.siteOf(x, target)
	if site != nil && strings.HasPrefix(target, "/") {
		x.event.Scheme = h.siteScheme(x)
	} else if absolute := h.streamTarget(x); absolute != "" && site == nil {
		target, x.event.Scheme = absolute, "http"
	}
	var err error
	switch {
	case h.rates != nil && !h.rates.allows(x.client.Addr):
		err = problem.ErrRate
	case r.Method == http.MethodConnect:
		err = h.connect(x)
	case len(target) > h.config.MaxTarget:
		err = problem.ErrTargetTooLong
	case site != nil:
		err = h.forwardToSite(x, site, target)
	default:
		h.routeOwn(x, target)
	}
	if err != nil {
		h.fail(x, err)
	}
}

// routeOwn dispatches a request that is for urnd itself, or for the proxy in absolute-form.
func (h *Handler) routeOwn(x *exchange, target string) {
	switch r := x.request; {
	case isPreflight(r) && h.preflight(x, target):
	case h.toTLS(x, target):
	case h.static(x, target):
	case r.Method == http.MethodPost && isBatch(target) && h.config.Access.mayResolve(x.client):
		h.allowOrigin(x)
		h.batch(x, target)
	default:
		h.routeTarget(x, target)
	}
}

func (h *Handler) routeTarget(x *exchange, target string) {
	request, err := message.Parse(target)
	if request.Form == message.FormPath && request.Text != "" {
		request, err = h.typed(request, err)
	}
	request.Query = x.asking(request.Query)
	x.event.Form, x.event.Service = request.Form.String(), request.Query.Service
	if h.isShared(&request, err) {
		h.allowOrigin(x)
	}
	switch {
	case err == nil && request.Form == message.FormForward:
		err = h.forwardTo(x, request.Query.URI, target)
	case h.isFetch(x, &request, err):
		err = h.fetch(x, &request, err)
	case !h.config.Access.mayResolve(x.client):
		if err = problem.ErrResolveClient; x.client.Misled {
			err = problem.ErrHost
		}
	case !isGet(x.request):
		err = problem.NotAllowed(x.request.Method, methods(target))
	case err != nil: // the target is not valid
	case request.Form == message.FormHome:
		h.reply(x, message.Reply{Status: http.StatusOK, ContentType: pages.ContentType, Body: pages.Home()})
	default:
		err = h.answer(x, &request)
	}
	if err != nil {
		h.fail(x, h.suggest(&request, err))
	}
}

// suggest adds to the error of a name whose namespace nobody knows, or that has raw octets, what may have been meant.
func (h *Handler) suggest(request *message.Request, err error) error {
	var parse *uri.ParseError
	if request.Form != message.FormPath && errors.As(err, &parse) && uri.EncodeRawName(parse.Input) != parse.Input {
		return &problem.Failure{Err: err, Input: parse.Input, Suggestions: h.config.Names.Suggest(parse.Input)}
	}
	var n *resolver.Negative
	unknownScheme := errors.Is(err, resolver.ErrService) && !request.Query.IsURN()
	if request.Form != message.FormPath || !errors.As(err, &n) || !n.Unclaimed && !unknownScheme {
		return err
	}
	text := request.Query.URI.String()
	return &problem.Failure{Err: err, Input: text, Suggestions: h.config.Names.Suggest(text)}
}

// typed returns the request for what a person probably means by a text that is no URN: an
// identifier of another form, or a page that does not exist. Its error has suggestions.
func (h *Handler) typed(request message.Request, err error) (message.Request, error) {
	if err == nil && h.config.Names.Owns(request.Query.URI) {
		return request, nil
	}
	if u, ok := h.config.Names.Identifiers.URI(request.Text); ok {
		q, err := resolver.NewQuery(u, request.Query.Service)
		request.Query, request.Identified = q, true
		return request, err
	}
	if err == nil {
		return request, nil
	}
	// A colon behind a slash or a question mark is no end of a scheme.
	if first := strings.IndexAny(request.Text, ":/?#"); !request.Typed && (first < 0 || request.Text[first] != ':') {
		err = problem.ErrNoPage
	}
	return request, &problem.Failure{Err: err, Input: request.Text, Typed: request.Text, Suggestions: h.config.Names.Suggest(request.Text)}
}

// isName reports whether a request is about a name, and not about a location.
func (h *Handler) isName(request *message.Request) bool {
	return request.Query.IsURN() || request.Identified || h.config.Names.Owns(request.Query.URI)
}

// answer answers a question about an identifier.
func (h *Handler) answer(x *exchange, request *message.Request) error {
	service := request.Query.Service
	retrieves := request.Form != message.FormAPI && (service == resolver.I2R || service == resolver.I2Rs)
	if !h.isName(request) || retrieves { // for clients of the proxy only
		if err := h.mayProxy(x); err != nil {
			if unknown := resolver.CheckScheme(request.Query.URI); errors.Is(unknown, resolver.ErrService) && !request.Query.IsURN() {
				err = unknown
			}
			return problem.About(err, request.Query.URI)
		}
	}
	if h.leadsToFetch(x, request) {
		h.reply(x, message.Reply{Status: http.StatusFound, Location: message.Fetched(request.Query.URI.String()), CacheControl: message.NoStore, Vary: "Accept"})
		return nil
	}
	var reply message.Reply
	var err error
	if retrieves {
		reply, err = h.retrieve(x, request)
	} else {
		reply, err = h.answers.Reply(x.request.Context(), &answer.Question{
			Request: request, Header: x.request.Header, HTTP11: x.request.ProtoAtLeast(1, 1),
		})
	}
	if err == nil {
		h.reply(x, reply)
	}
	return err
}

// isBatch reports whether a target is that of batches.
func isBatch(target string) bool {
	return target == message.PathResolve || strings.HasPrefix(target, message.PathResolve+"?")
}

// static answers requests for documents that never change, and reports whether it is one.
func (h *Handler) static(x *exchange, target string) bool {
	if strings.HasPrefix(target, "/urn:") { // most requests
		return false
	}
	document := h.statics[target]
	isSecurity := target == answer.PathSecurity && h.config.SecurityContact != ""
	if (target == pathPAC || target == pathWPAD) && h.pac != nil {
		document = h.pac
	}
	if document == nil && !isSecurity || !isGet(x.request) {
		return false
	}
	x.event.Form = "static"
	if isSecurity {
		h.reply(x, answer.Security(h.config.SecurityContact, h.config.Now()))
		return true
	}
	h.allowOrigin(x)
	h.reply(x, document.Reply(x.request.Header))
	return true
}

// batch resolves many names in one request.
func (h *Handler) batch(x *exchange, target string) {
	x.event.Form = "batch"
	h.identify(x) // before its names fail in parallel
	rights := answer.BatchRights{
		// A page of another site has not the right of the address that its reader is at.
		URLs:     h.mayProxy(x) == nil && len(x.request.Header["Origin"]) == 0,
		Allow:    func() bool { return h.rates == nil || h.rates.allows(x.client.Addr) },
		Asking:   x.asking,
		Report:   func(err error) { h.report(x, err) },
		Answered: func(record *resolver.Record) { h.answered(x.request, record) },
	}
	reply, err := h.answers.Batch(x, x.request, target, rights)
	if err != nil {
		h.fail(x, err)
		return
	}
	h.reply(x, reply)
}

var (
	errMethod = fmt.Errorf("%w: the method is no token", problem.ErrMalformed)
	errPath   = fmt.Errorf("%w: the :path of HTTP/2 begins with a slash", problem.ErrMalformed)
	errHost   = fmt.Errorf("%w: the :authority is no host", problem.ErrMalformed)
	errLength = fmt.Errorf("%w: Content-Length is not that of the body", problem.ErrMalformed)
)

// checkHTTP2 refuses a request that is malformed, where net/http accepts by HTTP/2 what it refuses
// by HTTP/1.1: RFC 9113 sections 8.1.1 and 8.3.1.
func checkHTTP2(r *http.Request) error {
	length := r.Header["Content-Length"]
	switch {
	case !httpguts.ValidHeaderFieldName(r.Method):
		return errMethod
	case !strings.HasPrefix(r.RequestURI, "/") && r.RequestURI != "*" && r.Method != http.MethodConnect:
		return errPath
	case !httpguts.ValidHostHeader(r.Host):
		return errHost
	case len(length) > 0 && (len(length) > 1 || length[0] != strconv.FormatInt(r.ContentLength, 10)):
		return errLength
	default:
		return nil
	}
}

// check refuses a request that is malformed, or in a loop. It takes the hop count of others.
func (h *Handler) check(x *exchange) (err error) {
	if x.request.ProtoMajor == 2 {
		if err := checkHTTP2(x.request); err != nil {
			return err
		}
	}
	if x.hops, err = message.Hops(x.request.Header); err != nil {
		return err
	}
	if x.hops == resolver.MaxHops || h.config.Via.Loops(x.request.Header) {
		return problem.ErrLoop
	}
	return nil
}

func isGet(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// methods returns the methods that are supported at a target.
func methods(target string) string {
	if path, _, _ := strings.Cut(target, "?"); path == message.PathResolve {
		return "GET, HEAD, POST"
	}
	return "GET, HEAD"
}

// ownTarget returns the request-target, without scheme and authority where they are those
// of this server: a server must accept the absolute form (RFC 9112 section 3.2.2), and a
// proxy must not forward to itself (RFC 9110 section 7.6).
func (h *Handler) ownTarget(r *http.Request) string {
	target := r.RequestURI
	rest, ok := strings.CutPrefix(target, "http://")
	if !ok {
		return target
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return target
	}
	authority, path := rest, "/"
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if path[0] != '/' || authority != local.String() && !h.isOwnName(authority, local.String()) {
		return target
	}
	return path
}

// isOwnName reports whether an authority is a name of this urnd, with the port of a connection
// to local.
func (h *Handler) isOwnName(authority, local string) bool {
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		host, port = authority, "80"
	}
	_, localPort, err := net.SplitHostPort(local)
	_, notName := netip.ParseAddr(host)
	return err == nil && port == localPort && notName != nil && h.config.Access.Own.Has(host)
}
