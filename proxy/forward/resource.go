package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// MaxResources is the most resources that are fetched for one request.
const MaxResources = 10

// Resource returns the resource at the first location that has it. It uses the quota of r.Client.
func (p *Proxy) Resource(ctx context.Context, r Retrieval) (message.Reply, error) {
	found, err := p.retrieve(ctx, r, 1)
	if err != nil {
		return message.Reply{}, err
	}
	return found.reply(found.resources[0], r.Embedder), nil
}

// Resources returns all available resources as multipart (RFC 2169 section 3.4), or the resource itself if
// there is only one.
func (p *Proxy) Resources(ctx context.Context, r Retrieval) (message.Reply, error) {
	found, err := p.retrieve(ctx, r, MaxResources)
	if err != nil {
		return message.Reply{}, err
	}
	accepted := acceptable(r.Fields.List("Accept"), found.resources)
	if len(accepted) == 0 {
		found.close()
		return message.Reply{}, problem.ErrNotAcceptable
	}
	if len(accepted) == 1 {
		return found.reply(accepted[0], r.Embedder), nil
	}
	var fields httpmessage.Fields
	protect(&fields, "", r.Embedder)
	boundary := multipart.NewWriter(io.Discard).Boundary()
	return message.Reply{
		Status: http.StatusOK, Fields: fields, CacheControl: message.NoStore, Close: found.close,
		ContentType: `multipart/alternative; boundary="` + boundary + `"`,
		Stream:      func(w message.Stream) error { return writeParts(w, boundary, accepted) },
	}, nil
}

func writeParts(w io.Writer, boundary string, resources []retrieved) error {
	parts := multipart.NewWriter(w)
	if err := parts.SetBoundary(boundary); err != nil {
		return fmt.Errorf("writing parts: %w", err)
	}
	for _, f := range resources {
		part, err := parts.CreatePart(textproto.MIMEHeader(fieldsOf(f).Header()))
		if err == nil {
			_, err = io.Copy(part, f.Body)
		}
		if err != nil {
			return fmt.Errorf("writing a part: %w", err)
		}
	}
	_ = parts.Close() // fails only if the client has disconnected
	return nil
}

// retrieved is a resource, with its URI after redirects.
type retrieved struct {
	*scheme.Resource

	at uri.URI
}

// fetched are the resources of one request, and the release of its slot.
type fetched struct {
	resources []retrieved
	leave     func()
}

func (f fetched) close() {
	for _, resource := range f.resources {
		_ = resource.Body.Close()
	}
	f.leave()
}

// reply returns the reply with one of the resources.
func (f fetched) reply(resource retrieved, embedder string) message.Reply {
	fields := fieldsOf(resource)
	protect(&fields, renderedPolicy(resource.at, resource.Fields), embedder)
	return message.Reply{
		Status: http.StatusOK, Fields: fields, Vary: "Accept, Accept-Language, Accept-Encoding",
		CacheControl: "private", // only for clients of the proxy
		Stream: func(w message.Stream) error {
			_, err := io.Copy(w, resource.Body)
			return err
		},
		Close: f.close,
	}
}

// acceptable returns the resources that the client accepts (RFC 2169 section 3.4).
func acceptable(accept string, found []retrieved) []retrieved {
	if accept == "" || !isAccept(accept) {
		return found
	}
	var accepted []retrieved
	for _, f := range found {
		kind, err := contenttype.ParseMediaType(f.Fields.Get("Content-Type"))
		if err != nil {
			kind = contenttype.NewMediaType("application/octet-stream") // RFC 9110 section 8.3
		}
		if _, _, err = contenttype.GetAcceptableMediaTypeFromHeader(accept, []contenttype.MediaType{kind}); err == nil {
			accepted = append(accepted, f)
		}
	}
	return accepted
}

// isAccept reports whether a field value is a valid list of media ranges. An invalid one is ignored.
func isAccept(field string) bool {
	_, _, err := contenttype.GetAcceptableMediaTypeFromHeader(field,
		[]contenttype.MediaType{contenttype.NewMediaType("*/*")})
	return err == nil || errors.Is(err, contenttype.ErrNoAcceptableTypeFound)
}

// retrieve fetches the resources of the locations, in order, at most limit of them.
func (p *Proxy) retrieve(ctx context.Context, r Retrieval, limit int) (fetched, error) {
	permit, err := p.config.Fetches.Acquire(r.Client)
	if err != nil {
		return fetched{}, err
	}
	found := fetched{leave: permit.Release}
	complete := false
	defer func() {
		if !complete { // also if a scheme handler panics
			found.close()
		}
	}()
	var failures []error
	for _, l := range r.Locations {
		resource, err := p.fetch(ctx, r, l.URI, limit == 1)
		if err != nil {
			failures = append(failures, ofLocation(l.URI, err))
			continue
		}
		if found.resources = append(found.resources, resource); len(found.resources) == limit {
			break
		}
	}
	if len(found.resources) == 0 {
		return fetched{}, noResource(failures)
	}
	complete = true
	return found, nil
}

// ofLocation returns the error of a location. An invalid location must not look like an error of the client.
func ofLocation(location string, err error) error {
	if !errors.As(err, new(*uri.ParseError)) {
		return err
	}
	return fmt.Errorf("%w: %s: %w: %w", resolver.ErrUnreachable, location, errLocation, err)
}

var errLocation = &problem.Reason{
	Code: "location_not_valid",
	Text: "a location of the name, or a redirect of its server, is not a valid URI",
}

// statusError is the status of an origin that did not send the resource.
type statusError struct {
	location string // of the name, not after redirects, which may expose hosts of an internal network
	status   int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s responded with status %d", e.location, e.status)
}

// Unwrap includes resolver.ErrUnreachable: that one origin lacks a resource says nothing about the name.
func (e *statusError) Unwrap() []error {
	return []error{
		resolver.ErrUnreachable,
		&problem.Reason{Code: "origin_status", Values: []string{"Status", strconv.Itoa(e.status)}, Text: e.Error()},
	}
}

// noResource returns the error of a name if no location has the resource: that it does not exist or is gone,
// if all origins say so.
func noResource(failures []error) error {
	missing, gone := 0, 0
	for _, err := range failures {
		var status *statusError
		switch {
		case !errors.As(err, &status):
		case status.status == http.StatusNotFound:
			missing++
		case status.status == http.StatusGone:
			gone++
		}
	}
	if len(failures) == 0 {
		return &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "the name has no location", Code: "no_location"}
	}
	joined := errors.Join(failures...)
	switch {
	case missing+gone < len(failures):
		return joined
	case missing == 0:
		return &resolver.Negative{Kind: resolver.ErrGone, Reason: joined.Error(), Code: "gone_at_origins"}
	default:
		return &resolver.Negative{Kind: resolver.ErrNotFound, Reason: joined.Error(), Code: "unknown_to_origins"}
	}
}

// fieldsOf returns the fields that describe a resource.
func fieldsOf(f retrieved) httpmessage.Fields {
	fields := f.Fields.Filter(func(one httpmessage.Field) bool {
		return slices.ContainsFunc(describing[:], one.HasName)
	})
	if renderedPolicy(f.at, f.Fields) == "" {
		fields.Set("Content-Location", f.at.WithoutPassword().String())
	}
	return fields
}

// describing are the fields that describe a resource.
var describing = [...]string{
	"Content-Type", "Content-Encoding", "Content-Language", "Content-Length", "ETag",
	"Last-Modified",
}
