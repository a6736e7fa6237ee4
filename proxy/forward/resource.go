package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// MaxResources bounds the resources that are fetched for one request, and maxRedirects
// the redirects of each.
const (
	MaxResources = 10
	maxRedirects = 5
)

var errRedirects = fmt.Errorf("the origin redirects more than %d times", maxRedirects)

// Resource returns the resource at the first location that has it. It takes the share of the
// limits that a client has.
func (p *Proxy) Resource(ctx context.Context, r *http.Request, locations []resolver.Location, client netip.Addr) (message.Reply, error) {
	found, err := p.retrieve(ctx, r, locations, 1, client)
	if err != nil {
		return message.Reply{}, err
	}
	return found.reply(found.responses[0]), nil
}

// Resources returns all resources that could be fetched, as multipart (RFC 2169 section
// 3.4), or the resource itself where it is the only one.
func (p *Proxy) Resources(ctx context.Context, r *http.Request, locations []resolver.Location, client netip.Addr) (message.Reply, error) {
	found, err := p.retrieve(ctx, r, locations, MaxResources, client)
	if err != nil {
		return message.Reply{}, err
	}
	accepted := acceptable(r, found.responses) //nolint:bodyclose // the reply closes them
	if len(accepted) == 0 {
		found.close()
		return message.Reply{}, problem.ErrNotAcceptable
	}
	if len(accepted) == 1 {
		return found.reply(accepted[0]), nil
	}
	boundary := multipart.NewWriter(io.Discard).Boundary()
	return message.Reply{
		Status: http.StatusOK, CacheControl: message.NoStore, Close: found.close,
		ContentType: `multipart/alternative; boundary="` + boundary + `"`,
		Stream:      func(w http.ResponseWriter) error { return writeParts(w, boundary, accepted) },
	}, nil
}

func writeParts(w io.Writer, boundary string, responses []*http.Response) error {
	parts := multipart.NewWriter(w)
	if err := parts.SetBoundary(boundary); err != nil {
		return fmt.Errorf("writing parts: %w", err)
	}
	for _, f := range responses {
		part, err := parts.CreatePart(textproto.MIMEHeader(fieldsOf(f)))
		if err == nil {
			_, err = io.Copy(part, f.Body)
		}
		if err != nil {
			return fmt.Errorf("writing a part: %w", err)
		}
	}
	_ = parts.Close() // it fails only where the client left
	return nil
}

// fetched are the responses for one request, and the slot that they hold.
type fetched struct {
	responses []*http.Response
	leave     func()
}

func (f fetched) close() {
	for _, response := range f.responses {
		_ = response.Body.Close()
	}
	f.leave()
}

// reply returns the reply with one of the resources. It comes from another origin: the
// policy keeps its scripts from acting as pages of this one.
func (f fetched) reply(response *http.Response) message.Reply {
	header := fieldsOf(response)
	header.Set("Content-Security-Policy", resourcePolicy)
	if policy := response.Header.Get("Content-Security-Policy"); !isWeb(response.Request.URL.Scheme) && policy != "" {
		header.Set("Content-Security-Policy", policy) // urnd made the response
	}
	header.Set("X-Content-Type-Options", "nosniff")
	return message.Reply{
		Status: http.StatusOK, Header: header, Vary: "Accept, Accept-Language, Accept-Encoding",
		CacheControl: "private", // it is for clients who may use the proxy
		Stream: func(w http.ResponseWriter) error {
			_, err := io.Copy(w, response.Body)
			return err //nolint:wrapcheck // it only aborts the connection
		},
		Close: f.close,
	}
}

// acceptable returns the resources that the client accepts (RFC 2169 section 3.4).
func acceptable(r *http.Request, found []*http.Response) []*http.Response {
	if accept := message.List(r.Header, "Accept"); accept == "" || !isAccept(accept) {
		return found
	}
	var accepted []*http.Response
	for _, f := range found {
		kind, err := contenttype.ParseMediaType(f.Header.Get("Content-Type"))
		if err != nil {
			kind = contenttype.NewMediaType("application/octet-stream") // RFC 9110 section 8.3
		}
		if _, _, err = contenttype.GetAcceptableMediaType(r, []contenttype.MediaType{kind}); err == nil {
			accepted = append(accepted, f) //nolint:bodyclose // fetched.close closes it
		}
	}
	return accepted
}

// isAccept reports whether a field is a list of media ranges: another one says nothing.
func isAccept(field string) bool {
	_, _, err := contenttype.GetAcceptableMediaTypeFromHeader(field, []contenttype.MediaType{contenttype.NewMediaType("*/*")})
	return err == nil || errors.Is(err, contenttype.ErrNoAcceptableTypeFound)
}

// retrieve fetches the resources of locations, in their order, at most limit of them.
func (p *Proxy) retrieve(ctx context.Context, r *http.Request, locations []resolver.Location, limit int, client netip.Addr) (fetched, error) {
	release, err := p.config.Fetches.Acquire(client)
	if err != nil {
		return fetched{}, err
	}
	found := fetched{leave: release}
	complete := false
	defer func() {
		if !complete { // also where a handler of a scheme panics
			found.close()
		}
	}()
	var faults []error
	for _, l := range locations {
		response, err := p.fetch(ctx, r, l.URI, limit == 1) //nolint:bodyclose // fetched.close closes it
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if found.responses = append(found.responses, response); len(found.responses) == limit { //nolint:bodyclose // fetched.close closes it
			break
		}
	}
	if len(found.responses) == 0 {
		return fetched{}, noResource(faults)
	}
	complete = true
	return found, nil
}

// statusError is the status of an origin that did not send the resource.
type statusError struct {
	location string
	status   int
}

func (e *statusError) Error() string { return fmt.Sprintf("%s answered %d", e.location, e.status) }

// Unwrap returns resolver.ErrUnreachable: that one origin lacks a resource says nothing about
// its name.
func (e *statusError) Unwrap() error { return resolver.ErrUnreachable }

// noResource returns the error of a name none of whose locations has the resource: that it
// does not exist, or is gone, where all origins say so.
func noResource(faults []error) error {
	missing, gone := 0, 0
	for _, err := range faults {
		var status *statusError
		switch {
		case !errors.As(err, &status):
		case status.status == http.StatusNotFound:
			missing++
		case status.status == http.StatusGone:
			gone++
		}
	}
	joined := errors.Join(faults...)
	switch {
	case len(faults) == 0 || missing+gone < len(faults):
		return joined
	case missing == 0:
		return &resolver.Negative{Kind: resolver.ErrGone, Reason: joined.Error()}
	default:
		return &resolver.Negative{Kind: resolver.ErrNotFound, Reason: joined.Error()}
	}
}

// fetch gets one resource with the client's Accept fields, and single where it is not a
// part of a multipart. Any status but 200 is an error.
func (p *Proxy) fetch(ctx context.Context, r *http.Request, location string, single bool) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, location, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", resolver.ErrUnreachable, err)
	}
	request.Header = p.config.Via.Passed(r.Header)
	for _, name := range []string{"Accept", "Accept-Language", "Accept-Encoding"} {
		if values := r.Header.Values(name); len(values) > 0 {
			request.Header[name] = values
		}
	}
	if u, err := uri.Parse(location); err == nil && !isWeb(u.Scheme()) {
		request.Header.Set("Accept", p.config.Accept(r.Header, true))
	}
	if !single { // clients do not decode the parts of a multipart
		request.Header.Del("Accept-Encoding")
	}
	request.Header.Set("User-Agent", "urnd")
	message.SetTraceparent(ctx, request.Header)
	client := http.Client{
		Transport: scheme.Transport{Handler: p.config.Fetch},
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
		return nil, &statusError{location, response.StatusCode}
	}
	return response, nil
}

// fieldsOf returns the header fields that describe a resource.
func fieldsOf(f *http.Response) http.Header {
	header := make(http.Header)
	for _, name := range []string{
		"Content-Type", "Content-Encoding", "Content-Language", "Content-Length", "ETag", "Last-Modified",
	} {
		if values := f.Header.Values(name); len(values) > 0 {
			header[http.CanonicalHeaderKey(name)] = values
		}
	}
	header.Set("Content-Location", f.Request.URL.Redacted())
	return header
}
