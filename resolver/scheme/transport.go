package scheme

import (
	"fmt"
	"net/http"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Transport is an adapter from a Handler to an http.RoundTripper, for the clients of the standard
// library. It normalizes the URI of a request.
type Transport struct {
	Handler Handler
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := uri.FromIRI(r.URL.String())
	if err != nil { // net/url keeps characters that are not allowed in a URI
		return nil, fmt.Errorf("fetching: %w: %s", resolver.ErrUnreachable, err.Error())
	}
	request := Request{Method: r.Method, URI: u.WithoutFragment().Normalize(), Header: r.Header, ContentLength: r.ContentLength}
	if r.Body != nil && r.Body != http.NoBody {
		request.Body = r.Body
	}
	resource, err := t.Handler.Fetch(r.Context(), request)
	if err != nil {
		return nil, err // handlers have wrapped it
	}
	return &http.Response{
		Status: http.StatusText(resource.Status), StatusCode: resource.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: resource.Header, Trailer: resource.Trailer,
		Body: resource.Body, ContentLength: resource.ContentLength, Request: r,
	}, nil
}
