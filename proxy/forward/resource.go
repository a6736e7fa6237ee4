package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"time"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Bounds of what is fetched for one request.
const (
	maxRedirects = 5
	maxResources = 10
)

var errRedirects = fmt.Errorf("the origin redirects more than %d times", maxRedirects)

// serveResource answers with the resource itself: that of the first location that
// has it.
func (h *Handler) serveResource(w http.ResponseWriter, r *http.Request, q resolver.Query) {
	found, leave, err := h.retrieve(r, q, 1) //nolint:bodyclose // closed below
	defer leave()
	if err != nil {
		h.fail(w, r, err, q.URI.String(), nil)
		return
	}
	defer found[0].Body.Close()
	passOn(w, r, found[0])
}

// serveResources answers with all resources that can be had, as multipart, RFC 2169
// section 3.4; one alone is sent as it is.
func (h *Handler) serveResources(w http.ResponseWriter, r *http.Request, q resolver.Query) {
	q.Service = resolver.I2Ls
	found, leave, err := h.retrieve(r, q, maxResources) //nolint:bodyclose // closed below
	defer leave()
	if err != nil {
		h.fail(w, r, err, q.URI.String(), nil)
		return
	}
	for _, f := range found {
		defer f.Body.Close()
	}
	if found = acceptable(r, found); len(found) == 1 { //nolint:bodyclose // closed above
		passOn(w, r, found[0])
		return
	}
	parts := multipart.NewWriter(w)
	w.Header().Set("Content-Type", `multipart/alternative; boundary="`+parts.Boundary()+`"`)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	for _, f := range found {
		header := make(textproto.MIMEHeader)
		for name, values := range fieldsOf(f) {
			header[name] = values
		}
		part, err := parts.CreatePart(header)
		if err != nil {
			return
		}
		if _, err := io.Copy(part, f.Body); err != nil {
			breakOff(w)
			return
		}
	}
	_ = parts.Close() // a client that left needs no end
}

// acceptable returns the resources that the client accepts, and all where it accepts
// none: RFC 2169 section 3.4.
func acceptable(r *http.Request, found []*http.Response) []*http.Response {
	var accepted []*http.Response
	for _, f := range found {
		kind, err := contenttype.ParseMediaType(f.Header.Get("Content-Type"))
		if err == nil {
			_, _, err = contenttype.GetAcceptableMediaType(r, []contenttype.MediaType{kind})
		}
		if err == nil {
			accepted = append(accepted, f) //nolint:bodyclose // whoever retrieved closes it
		}
	}
	if len(accepted) == 0 {
		return found
	}
	return accepted
}

// retrieve fetches the resources of a name, at most limit of them. To fetch for
// others is what a proxy does: its clients alone may ask for it.
func (h *Handler) retrieve(r *http.Request, q resolver.Query, limit int) (found []*http.Response, leave func(), err error) {
	if err := h.mayProxy(r); err != nil {
		return nil, func() {}, err
	}
	if q.Service != resolver.I2Ls {
		q.Service = resolver.I2L
	}
	answer, err := h.config.Resolver.Resolve(r.Context(), q)
	if err != nil {
		return nil, func() {}, err
	}
	if !h.config.Slots.Take() { // to resolve it took one of its own, and gave it back
		return nil, func() {}, errFetches
	}
	var faults []error
	for _, l := range h.inTurn(r, answer.Locations) {
		response, err := h.fetch(r.Context(), r, l.URI, limit == 1) //nolint:bodyclose // whoever retrieves closes it
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if found = append(found, response); len(found) == limit { //nolint:bodyclose // whoever retrieves closes it
			break
		}
	}
	if len(found) == 0 {
		return nil, h.config.Slots.Leave, errors.Join(faults...)
	}
	return found, h.config.Slots.Leave, nil
}

// inTurn returns the locations in the order in which they are tried: the one to which
// the client would be sent goes first.
func (h *Handler) inTurn(r *http.Request, locations []resolver.Location) []resolver.Location {
	first, _ := h.choose(r, locations)
	turn := []resolver.Location{first}
	for _, l := range locations {
		if l != first {
			turn = append(turn, l)
		}
	}
	return turn[:min(len(turn), maxResources)]
}

// fetch gets one resource, with what the client accepts. What is no success is an
// error.
func (h *Handler) fetch(ctx context.Context, r *http.Request, location string, whole bool) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, location, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", resolver.ErrUnreachable, err)
	}
	for _, name := range []string{"Accept", "Accept-Language", "Accept-Encoding"} {
		if values := r.Header.Values(name); len(values) > 0 {
			request.Header[name] = values
		}
	}
	if !whole { // nobody decodes the parts of a multipart
		request.Header.Del("Accept-Encoding")
	}
	request.Header.Set("User-Agent", "urnd")
	request.Header.Set("Via", h.config.Hop.Append(ctx))
	if traceparent := resolver.Traceparent(ctx); traceparent != "" {
		request.Header.Set(resolver.TraceparentField, traceparent)
	}
	client := http.Client{
		Transport: scheme.Transport{Handler: h.fetcher},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errRedirects
			}
			return nil
		},
	}
	response, err := client.Do(request) //nolint:gosec // the guard looks at what is dialled
	var failed *url.Error
	switch {
	case errors.Is(err, errRedirects):
		return nil, fmt.Errorf("%w: %s: %w", resolver.ErrUnreachable, location, errRedirects)
	case errors.As(err, &failed) && errors.Is(err, scheme.ErrUnsupported) && failed.URL != location:
		return nil, fmt.Errorf("%w: %s leads to %q, which cannot be fetched", resolver.ErrUnreachable, location, failed.URL)
	case errors.As(err, &failed):
		return nil, failed.Err
	case err != nil:
		return nil, err
	case response.StatusCode != http.StatusOK:
		_ = response.Body.Close()
		return nil, fmt.Errorf("%w: %s answered %d", resolver.ErrUnreachable, location, response.StatusCode)
	}
	return response, nil
}

// passOn sends a resource to the client. It is of another origin: a page of it may not
// act in the name of this one.
func passOn(w http.ResponseWriter, r *http.Request, f *http.Response) {
	header := w.Header()
	for name, values := range fieldsOf(f) {
		header[name] = values
	}
	header.Set("Cache-Control", "private") // it is for who may use the proxy
	header.Set("Vary", "Accept, Accept-Language, Accept-Encoding")
	header.Set("Content-Security-Policy", "sandbox")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, f.Body); err != nil {
		breakOff(w)
	}
}

// breakOff ends the connection: what breaks off at its source must not look whole.
func breakOff(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
}

// fieldsOf returns the fields of a resource that are of use to who gets it.
func fieldsOf(f *http.Response) http.Header {
	header := make(http.Header)
	for _, name := range []string{
		"Content-Type", "Content-Encoding", "Content-Language", "Content-Length", "ETag", "Last-Modified",
	} {
		if values := f.Header.Values(name); len(values) > 0 {
			header[http.CanonicalHeaderKey(name)] = values
		}
	}
	header.Set("Content-Location", f.Request.URL.String())
	return header
}
