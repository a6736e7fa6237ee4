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

// asked are the fields of a client that a request for a fetched resource, or one by another protocol than
// HTTP, may have: the others are for this server, or for origins that know HTTP.
var asked = [...]string{
	"Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Pragma", "Range", "If-Range", "If-None-Match", "If-Modified-Since",
	"If-Match", "If-Unmodified-Since", "User-Agent",
}

// askedOf returns the fields of a request that is fetched, or sent by another protocol.
func (p *Proxy) askedOf(r *Request) httpmessage.Fields {
	fields := r.Fields.Filter(func(f httpmessage.Field) bool { return slices.ContainsFunc(asked[:], f.Is) })
	if r.isWeb() {
		p.nameClient(r, &fields) // the origin may select by it
		return fields
	}
	p.negotiate(&fields, p.config.Accept(r.Fields.List("Accept"), r.Fetched, r.Sort), cmp.Or(r.Language, r.Fields.List("Accept-Language")))
	// A password for the server, and not for this one.
	if !r.Fetched {
		for _, line := range r.Fields.Lines("Authorization") {
			fields.Add("Authorization", line)
		}
	}
	return fields
}

// negotiate sets by which a listing is made into a document: one value for all that have the same, so that it is stored once.
func (p *Proxy) negotiate(fields *httpmessage.Fields, accept, languages string) {
	fields.Set("Accept", accept)
	if chosen := p.config.Language(accept, languages); chosen != "" {
		fields.Set("Accept-Language", chosen)
		return
	}
	fields.Del("Accept-Language")
}

// shown are the fields of a response that are passed on with a fetched resource: those that mean the same as
// fields of this server.
var shown = [...]string{
	"Accept-Ranges", "Age", "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Range", "Content-Type",
	"Date", "Etag", "Expires", "Last-Modified", "Proxy-Status", "Retry-After", "Vary",
}

// asFetched returns an answer as a resource of this server, without the fields and trailers that would be taken
// for its own. An error means that it cannot be one; the answer is closed then.
func (p *Proxy) asFetched(r *Request, a *httpcache.Answer) (*httpcache.Answer, error) {
	location, err := leadsTo(r, a)
	if err != nil {
		if a.Content != nil {
			a.Content.Close()
		}
		return nil, err
	}
	resource := *a
	resource.Fields, resource.Added, resource.Trailer = shownOf(r, a), nil, nil
	if location != "" {
		resource.Fields.Add("Location", p.config.Base+location)
	}
	return &resource, nil
}

// leadsTo returns the target of this server at which a redirect goes on, "" for none. An error is for an
// answer that asks the client for what is not for this server to ask, or redirects to nowhere.
func leadsTo(r *Request, a *httpcache.Answer) (string, error) {
	switch location := a.Fields.Value("Location"); {
	case a.Status == http.StatusUnauthorized:
		// The browser would send the password to this server as its own, so its challenge is not passed
		// on, without which there is no 401: RFC 9110 section 15.5.2.
		return "", scheme.Refuse(http.StatusForbidden, "401 "+cmp.Or(a.Reason, http.StatusText(a.Status)))
	case a.Status == http.StatusProxyAuthRequired:
		return "", fmt.Errorf("%w: status 407 is not that of an origin", scheme.ErrResponse)
	case isRedirect(a.Status) && location != "":
		target, err := referred(r.URI, location)
		if err == nil && !target.IsURN() {
			err = target.Check()
		}
		if err != nil { // its text alone: it is no fault of the URI that the client asked for
			return "", fmt.Errorf("%w: it redirects to what is no URI: %s", scheme.ErrResponse, err.Error())
		}
		if err := mayRefer(r.URI, target); err != nil {
			return "", err
		}
		if route.TrustsLines(target) && isElsewhere(r.URI, target) {
			return route.LedTo(target.String()), nil
		}
		return route.Fetched(target.String()), nil
	default:
		return "", nil
	}
}

// shownOf returns the fields of an answer that are passed on, and those of this server for what it shows of others.
func shownOf(r *Request, a *httpcache.Answer) httpmessage.Fields {
	isShown := func(f httpmessage.Field) bool { return slices.ContainsFunc(shown[:], f.Is) }
	fields := a.Fields.Filter(isShown)
	for _, f := range a.Added.Filter(isShown) {
		fields.Set(f.Name, f.Value)
	}
	fields.Set("Cache-Control", privately(fields.Lines("Cache-Control")))
	made := madePolicy(r.URI, a.Fields)
	protect(&fields, made, r.Embedder)
	if made == "" && !isRedirect(a.Status) {
		fields.Set("Content-Location", r.URI.WithoutPassword().String())
	}
	return fields
}

// privately returns a Cache-Control by which no shared cache stores a response that is for those who may use the
// proxy: RFC 9111 section 5.2.2.7.
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
