package http

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// RoundTrip implements http.RoundTripper, for code that uses net/http. Its errors are of the kinds of Fetch. It
// ignores httptrace.
func (h *Handler) RoundTrip(request *http.Request) (*http.Response, error) {
	u, err := uri.FromIRI(request.URL.String())
	if err != nil {
		closeBody(request.Body)
		return nil, fmt.Errorf("fetching: %w", resolver.Unreachable(err))
	}
	in := scheme.Request{Request: httpmessage.FromRequest(request)}
	in.URI = u.WithoutFragment()
	if in.Method == "" {
		in.Method = http.MethodGet
	}
	if in.Body != nil && in.ContentLength == 0 {
		in.ContentLength = -1 // net/http uses 0 for unknown
	}
	resource, err := h.Fetch(request.Context(), in)
	if err != nil {
		return nil, err
	}
	response := &http.Response{
		Status: strconv.Itoa(resource.Status) + " " + resource.Reason, StatusCode: resource.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: resource.Fields.Header(), Body: resource.Body, ContentLength: resource.ContentLength, Request: request,
	}
	if resource.Trailer != nil {
		response.Trailer = resource.Trailer.Announced()
		response.Body = httpmessage.AtEnd(resource.Body, func() { resource.Trailer.Fields.CopyTo(response.Trailer) })
	}
	return response, nil
}
