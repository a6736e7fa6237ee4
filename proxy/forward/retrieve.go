package forward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Allow returns the check of the addresses that may be contacted for a URI, nil if all may, or an error if
// none may. It is called for each redirect, too; crossSite is whether another server has redirected to the URI.
type Allow func(u uri.URI, crossSite bool) (check func(netip.AddrPort) error, err error)

// Retrieval is a request to retrieve the resources of a name.
type Retrieval struct {
	Method    string
	Fields    httpmessage.Fields // of the request
	Locations []resolver.Location
	Client    netip.Addr // whose quota is used
	Allow     Allow
	Embedder  string // see Request.Embedder
}

// maxRedirects is the most redirects of each resource.
const maxRedirects = 5

var errRedirects = &problem.Reason{
	Code: "too_many_redirects",
	Text: fmt.Sprintf("the origin redirects more than %d times", maxRedirects),
}

// fetch retrieves one resource for a client, with its Accept fields. single is whether it is not a part of a
// multipart. It follows redirects. Any status but 200 is an error.
func (p *Proxy) fetch(ctx context.Context, r Retrieval, location string, single bool) (retrieved, error) {
	crossSite := false
	u, err := uri.Parse(location)
	if err != nil {
		return retrieved{}, err
	}
	named := u.WithoutPassword().String()
	for range maxRedirects + 1 {
		u = u.WithoutFragment().Normalize()
		check, err := r.Allow(u, crossSite)
		if err != nil {
			return retrieved{}, err
		}
		resource, err := p.config.Fetch.Fetch(ctx, scheme.Request{
			Request: httpmessage.Request{Method: r.Method, URI: u, Fields: p.resourceFields(ctx, r.Fields, u, single)},
			Client:  r.Client, Check: check,
		})
		switch {
		case errors.Is(err, scheme.ErrUnsupported) && u.String() != location:
			return retrieved{}, fmt.Errorf("%w: %s redirects to %q, which cannot be fetched", resolver.ErrUnreachable,
				location, u.WithoutPassword())
		case err != nil:
			return retrieved{}, err
		case resource.Status == http.StatusOK:
			return retrieved{resource, u}, nil
		}
		_ = resource.Body.Close()
		next := resource.Fields.Get("Location")
		if !isRedirect(resource.Status) || next == "" {
			return retrieved{}, &statusError{named, resource.Status}
		}
		from := u
		if u, err = referred(u, next); err != nil {
			return retrieved{}, fmt.Errorf("%w: %s redirects to an invalid URI: %w", resolver.ErrUnreachable,
				location, err)
		}
		if err := mayRefer(from, u); err != nil {
			return retrieved{}, err
		}
		crossSite = crossSite || isElsewhere(from, u)
	}
	return retrieved{}, fmt.Errorf("%w: %s: %w", resolver.ErrUnreachable, location, errRedirects)
}

// mayRefer returns an error for a redirect that no server may send: to resources on this machine, or on
// configured servers, which only clients may request.
func mayRefer(from, u uri.URI) error {
	if to := strings.ToLower(u.Scheme()); (to == "file" || to == "news") && !uri.EqualFold(to, from.Scheme()) {
		return fmt.Errorf("%w: %w", resolver.ErrForbidden, &problem.Reason{
			Code: "redirect_not_allowed",
			Text: fmt.Sprintf("a server of %s must not redirect to %q", from.Scheme(), to),
		})
	}
	return nil
}

// isElsewhere reports whether a redirect goes to another server, or to another protocol.
func isElsewhere(from, to uri.URI) bool {
	return !uri.SameServer(from, to)
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	default:
		return false
	}
}

// resourceFields returns the fields of a request for a resource at u.
func (p *Proxy) resourceFields(
	ctx context.Context, client httpmessage.Fields, u uri.URI, single bool,
) httpmessage.Fields {
	fields := p.config.Via.FieldsFor(client.Values)
	for _, name := range []string{"Accept", "Accept-Language", "Accept-Encoding"} {
		if name == "Accept-Encoding" && !single {
			continue // clients do not decode the parts of a multipart
		}
		for _, line := range client.Values(name) {
			fields.Add(name, line)
		}
	}
	if !u.IsWeb() {
		p.negotiate(&fields, p.config.Accept(client.List("Accept"), true, ""), client.List("Accept-Language"))
	}
	fields.Set("User-Agent", "urnd")
	message.SetTraceparent(ctx, &fields)
	return fields
}

// referred returns the target of a redirect. Characters that are invalid in a URI are percent-encoded, since
// some origins send them.
func referred(from uri.URI, reference string) (uri.URI, error) {
	if relative, err := uri.ParseReference(reference); err == nil {
		return from.Resolve(relative, uri.RFC3986)
	}
	base, err := url.Parse(from.String())
	if err != nil {
		return uri.URI{}, err
	}
	target, err := base.Parse(reference)
	if err != nil {
		return uri.URI{}, err
	}
	return uri.FromIRI(target.String())
}
