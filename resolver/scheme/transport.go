package scheme

import (
	"fmt"
	"net/http"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Transport makes a Handler an http.RoundTripper, for the clients and the proxy of the
// standard library. The URI of a request is normalized on the way.
type Transport struct {
	Handler Handler
	// Target takes the place of what net/url has made of the URI of each request; the
	// zero value does not.
	Target uri.URI
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	u := t.Target
	if !u.IsValid() {
		var err error
		if u, err = uri.FromIRI(r.URL.String()); err != nil { // net/url leaves in what no URI has
			return nil, fmt.Errorf("fetching: %w: %s", resolver.ErrUnreachable, err.Error())
		}
	}
	request := Request{Method: r.Method, URI: u.WithoutFragment().Normalize(), Header: r.Header, ContentLength: r.ContentLength}
	if r.Body != nil && r.Body != http.NoBody {
		request.Body = r.Body
	}
	resource, err := t.Handler.Fetch(r.Context(), request)
	if err != nil {
		return nil, err // one caller, one error table
	}
	return &http.Response{
		Status: http.StatusText(resource.Status), StatusCode: resource.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: resource.Header, Trailer: resource.Trailer,
		Body: resource.Body, ContentLength: resource.ContentLength, Request: r,
	}, nil
}
