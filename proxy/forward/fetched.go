package forward

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
)

// fetchRequestFields are the request fields of a client that are forwarded for a fetched resource, or to a server of a
// protocol other than HTTP. Other fields are meant for this server, or for HTTP origins.
var fetchRequestFields = [...]string{
	"Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Pragma", "Range", "If-Range", "If-None-Match",
	"If-Modified-Since", "If-Match", "If-Unmodified-Since", "User-Agent",
}

// fetchFields returns the fields of a request at /fetch, or of one by another protocol.
func (p *Proxy) fetchFields(r *Request) httpmessage.Fields {
	fields := r.Fields.Filter(func(f httpmessage.Field) bool {
		return slices.ContainsFunc(fetchRequestFields[:], f.HasName)
	})
	if r.isWeb() {
		p.nameClient(r, &fields) // the origin may select the response by them
		return fields
	}
	p.negotiate(&fields, p.config.Accept(r.Fields.List("Accept"), r.Fetched, r.Sort),
		cmp.Or(r.Language, r.Fields.List("Accept-Language")))
	// A password for the origin, not for this server.
	if !r.Fetched {
		for _, line := range r.Fields.Values("Authorization") {
			fields.Add("Authorization", line)
		}
	}
	return fields
}

// negotiate sets the fields that select the rendering of a listing. Equal renderings have equal values, so
// that each is stored once.
func (p *Proxy) negotiate(fields *httpmessage.Fields, accept, languages string) {
	fields.Set("Accept", accept)
	if chosen := p.config.Language(accept, languages); chosen != "" {
		fields.Set("Accept-Language", chosen)
		return
	}
	fields.Del("Accept-Language")
}

// fetchResponseFields are the response fields that are forwarded with a fetched resource: those whose meaning is the
// same in a response of this server.
var fetchResponseFields = [...]string{
	"Accept-Ranges", "Age", "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language",
	"Content-Length", "Content-Range", "Content-Type", "Date", "Etag", "Expires", "Last-Modified", "Proxy-Status",
	"Retry-After", "Vary",
}

// asFetched returns an answer as a resource of this server, without the fields and trailers that would act as
// those of this server. If it returns an error, the answer is closed.
func (p *Proxy) asFetched(r *Request, a *httpcache.Response) (*httpcache.Response, error) {
	location, err := redirectTarget(r, a)
	if err != nil {
		if a.Content != nil {
			a.Content.Close()
		}
		return nil, err
	}
	resource := *a
	resource.Fields, resource.Added, resource.Trailer = fetchedFields(r, a), nil, nil
	if location != "" {
		resource.Fields.Add("Location", p.config.Base+location)
	}
	return &resource, nil
}

// redirectTarget returns the target of this server that continues a redirect, "" for no redirect. It returns an
// error for a response that requests credentials, and for an invalid Location.
func redirectTarget(r *Request, a *httpcache.Response) (string, error) {
	switch location := a.Fields.Get("Location"); {
	case a.Status == http.StatusUnauthorized:
		// The browser would send the password to this server for all of its resources. So the challenge is
		// not forwarded, and 401 requires one: RFC 9110 section 15.5.2.
		return "", scheme.UpstreamError(http.StatusForbidden, "401 "+cmp.Or(a.Reason, http.StatusText(a.Status)))
	case a.Status == http.StatusProxyAuthRequired:
		return "", fmt.Errorf("%w: unexpected status 407 of an origin", scheme.ErrInvalidResponse)
	case isRedirect(a.Status) && location != "":
		target, err := referred(r.URI, location)
		if err == nil && !target.IsURN() {
			err = target.Check()
		}
		if err != nil { // wrapped as text: it must not look like an error of the requested URI
			return "", fmt.Errorf("%w: redirect to an invalid URI: %s", scheme.ErrInvalidResponse, err.Error())
		}
		if err := mayRefer(r.URI, target); err != nil {
			return "", err
		}
		if route.SendsCommands(target) && isElsewhere(r.URI, target) {
			return route.CrossSiteFetchTarget(target.String()), nil
		}
		return route.FetchTarget(target.String()), nil
	default:
		return "", nil
	}
}

// fetchedFields returns the fields of an answer that are forwarded, and those that protect this server from its
// content.
func fetchedFields(r *Request, a *httpcache.Response) httpmessage.Fields {
	isShown := func(f httpmessage.Field) bool { return slices.ContainsFunc(fetchResponseFields[:], f.HasName) }
	fields := a.Fields.Filter(isShown)
	for _, f := range a.Added.Filter(isShown) {
		fields.Set(f.Name, f.Value)
	}
	fields.Set("Cache-Control", privately(fields.Values("Cache-Control")))
	made := renderedPolicy(r.URI, a.Fields)
	protect(&fields, made, r.Embedder)
	if made == "" && !isRedirect(a.Status) {
		fields.Set("Content-Location", r.URI.WithoutPassword().String())
	}
	return fields
}

// privately returns a Cache-Control that prevents shared caches from storing a response that only clients of
// the proxy may get (RFC 9111 section 5.2.2.7).
func privately(lines []string) string {
	control := cachecontrol.Directives{{Name: "private"}}
	for _, directive := range cachecontrol.Parse(lines) {
		switch directive.Name {
		case "private", "public", "s-maxage":
		default:
			control = append(control, directive)
		}
	}
	return control.String()
}
