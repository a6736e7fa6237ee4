package thttp

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// listType is the media type of RFC 2483 section 5.
const listType = "text/uri-list"

// found is the content of a response.
type found struct {
	uris []string // locations or names; for a description its location
	// mediaType, language and content are those of a description that is returned as such, not by its location
	// alone.
	mediaType, language, content string
}

// read parses the response of a server to a request for a name: RFC 2169 section 3.
func (c *Client) read(
	ctx context.Context, requested uri.URI, response *scheme.Resource, q resolver.Query,
) (found, error) {
	location := response.Fields.Get("Location")
	switch code := response.Status; {
	case (code >= 300 && code < 400 || code == http.StatusOK && !isList(response.Fields)) && location != "":
		text, err := c.redirect(requested, location, q)
		return found{uris: []string{text}}, err
	case code == http.StatusOK && describes(q.Service):
		return c.description(requested, response)
	case code == http.StatusOK && isList(response.Fields):
		return c.list(ctx, response, q)
	// RFC 2483 section 4.1: no output, or no name of this server
	case code == http.StatusNotFound, code == http.StatusNoContent, code == http.StatusBadRequest:
		return found{}, errNotFound
	case code == http.StatusGone:
		return found{}, errGone
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return found{}, fmt.Errorf("%w: response status %d", resolver.ErrForbidden, code)
	case code == http.StatusNotImplemented:
		return found{}, errService
	default:
		return found{}, fmt.Errorf("%w: response status %d without a location for %s", resolver.ErrUnreachable,
			code, q.Service)
	}
}

// describes reports whether the answer to a service is a description.
func describes(s resolver.Service) bool { return s == resolver.I2C || s == resolver.I2Cs }

// check returns an error unless a server may return this URI for a name: another name, or a location.
func (c *Client) check(u uri.URI, q resolver.Query) error {
	if len(u.String()) > resolver.MaxLocation {
		return errLong
	}
	if q.Service == resolver.I2N || q.Service == resolver.I2Ns {
		_, err := u.URN()
		return err
	}
	if err := resolver.CheckLocation(u.String()); err != nil {
		return err
	}
	scheme := strings.ToLower(u.Scheme())
	allowed := c.config.Schemes[q.NID()]
	if len(allowed) == 0 || uri.IsWebScheme(scheme) || slices.Contains(allowed, scheme) {
		return nil
	}
	return fmt.Errorf("%w: the configuration of the namespace does not allow the scheme %q",
		resolver.ErrForbidden, scheme)
}

func isList(fields httpmessage.Fields) bool { return mediaType(fields) == listType }

// mediaType returns the media type of a response without parameters, "" if it is invalid.
func mediaType(fields httpmessage.Fields) string {
	kind, _, err := mime.ParseMediaType(fields.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// contentLanguage returns the language of a response, or "" unless it specifies exactly one (RFC 9110 section
// 8.5).
func contentLanguage(fields httpmessage.Fields) string {
	tag, err := language.Parse(fields.Get("Content-Language"))
	if err != nil {
		return ""
	}
	return tag.String()
}

// redirect parses a Location field, which is the answer and is not followed. A redirect to the request URI
// itself is an error.
func (c *Client) redirect(requested uri.URI, text string, q resolver.Query) (string, error) {
	ref, err := uri.ParseRawReference(text)
	if err != nil {
		// Not wrapped: a *uri.ParseError would be an error of the client.
		return "", fmt.Errorf("%w: invalid Location: %s", resolver.ErrUnreachable, err.Error())
	}
	location, err := requested.Resolve(ref, uri.RFC3986)
	if err != nil {
		return "", fmt.Errorf("%w: invalid Location: %s", resolver.ErrUnreachable, err.Error())
	}
	if location.WithoutFragment().Normalize() == requested.Normalize() {
		return "", fmt.Errorf("%w: redirect to itself", resolver.ErrUnreachable)
	}
	if err := c.check(location, q); err != nil {
		return "", fmt.Errorf("%w: invalid Location: %s", resolver.ErrUnreachable, err.Error())
	}
	return location.String(), nil
}

// maxTracedURIs limits the unusable URIs of a list that a trace names, and maxUnused limits the unusable URIs
// that are read.
const (
	maxTracedURIs = 10
	maxUnused     = 1000
)

// list parses a text/uri-list, as far as it is used. URIs that must not be used are left out, with a step in
// the trace.
func (c *Client) list(ctx context.Context, response *scheme.Resource, q resolver.Query) (found, error) {
	text, err := c.body(response, c.config.MaxBody)
	if err != nil {
		return found{}, err
	}
	t := resolver.TraceOf(ctx)
	var list found
	left, room := 0, resolver.MaxAnswer
	for line := range uri.ListLines(text) {
		u, err := c.usable(line, q)
		switch {
		case err != nil:
		case len(list.uris) == c.config.MaxLocations:
			err = errMaxLocations
		case len(u) > room:
			err = errMaxAnswer
		default:
			room -= len(u)
			list.uris = append(list.uris, u)
			continue
		}
		if left++; left <= maxTracedURIs {
			t.Add(resolver.Step{Stage: "thttp", Code: "location_left_out"}, "omitted from the list: %.200s: %s",
				line, err)
		}
		if left == maxUnused {
			t.Add(resolver.Step{Stage: "thttp", Code: "list_cut"}, "rest of the list not read")
			break
		}
	}
	if left > maxTracedURIs {
		t.Add(resolver.Step{Stage: "thttp", Code: "locations_left_out", Values: []any{"Number", left - maxTracedURIs}},
			"omitted from the list: %d more", left-maxTracedURIs)
	}
	switch {
	case len(list.uris) > 0:
		return list, nil
	case left > 0: // it knows the name
		return found{}, fmt.Errorf("%w: none of the %d lines of the list is usable", resolver.ErrUnreachable, left)
	default:
		return found{}, errNotFound
	}
}

// usable returns the URI in a line of a list, or an error if it must not be used.
func (c *Client) usable(line string, q resolver.Query) (string, error) {
	u, err := uri.Parse(line)
	if err != nil {
		return "", err
	}
	return u.String(), c.check(u, q)
}

var (
	errMaxLocations = errors.New("list exceeds the limit of locations")
	errLong         = fmt.Errorf("longer than %d bytes", resolver.MaxLocation)
	errMaxAnswer    = fmt.Errorf("list exceeds %d bytes of locations", resolver.MaxAnswer)
)

// maxDescription limits a description that is part of an answer, in bytes. Only the location of a longer one is
// returned.
const maxDescription = 64 << 10

// description reads a description: its content if that is text, or else only its location.
func (c *Client) description(requested uri.URI, response *scheme.Resource) (found, error) {
	d := found{
		uris: []string{requested.String()}, mediaType: mediaType(response.Fields),
		language: contentLanguage(response.Fields),
	}
	if !isText(d.mediaType) {
		return d, nil
	}
	text, err := c.body(response, min(maxDescription, c.config.MaxBody))
	switch {
	case errors.Is(err, errTooLong):
		return d, nil
	case err != nil:
		return found{}, err
	case utf8.ValidString(text):
		d.content = text
	}
	return d, nil
}

// isText reports whether a media type is text for people or programs.
func isText(mediaType string) bool {
	_, subtype, _ := strings.Cut(mediaType, "/")
	return strings.HasPrefix(mediaType, "text/") || subtype == "json" || subtype == "xml" ||
		strings.HasSuffix(subtype, "+json") || strings.HasSuffix(subtype, "+xml")
}

var errTooLong = errors.New("response too long")

// gzipOverhead is how much longer than its content a compressed body may be, in bytes.
const gzipOverhead = 4 << 10

// body reads and decodes a body of at most limit bytes.
func (c *Client) body(response *scheme.Resource, limit int64) (string, error) {
	body := io.Reader(response.Body)
	switch coding := response.Fields.Get("Content-Encoding"); strings.ToLower(coding) {
	case "", "identity":
	case "gzip", "x-gzip":
		// Without a limit of the encoded body, empty blocks would never reach that of the content.
		decoded, err := gzip.NewReader(io.LimitReader(body, limit+gzipOverhead))
		if err != nil {
			return "", fmt.Errorf("%w: decoding the response: %w", resolver.ErrUnreachable, err)
		}
		body = decoded
	default:
		return "", fmt.Errorf("%w: response with unknown content coding %q", resolver.ErrUnreachable, coding)
	}
	var text strings.Builder
	text.Grow(int(min(max(response.ContentLength, 0), limit)))
	if _, err := io.Copy(&text, io.LimitReader(body, limit+1)); err != nil {
		return "", fmt.Errorf("%w: reading the response: %w", resolver.ErrUnreachable, err)
	}
	if int64(text.Len()) > limit {
		return "", fmt.Errorf("%w: %w: more than %d bytes", resolver.ErrUnreachable, errTooLong, limit)
	}
	return text.String(), nil
}

// The negative answers of a server.
var (
	errNotFound = errors.New("name unknown")
	errGone     = errors.New("name gone")
	errService  = errors.New("service not offered")
)

// negative converts a negative answer to a *resolver.Negative; it returns other errors unchanged.
func negative(err error, status int, ttl time.Duration) error {
	n := &resolver.Negative{Reason: fmt.Sprintf("resolution server responded %d: %s", status, err), TTL: ttl}
	switch {
	case errors.Is(err, errNotFound):
		n.Kind, n.Code = resolver.ErrNotFound, "unknown_to_server"
	case errors.Is(err, errGone):
		n.Kind, n.Code = resolver.ErrGone, "gone_at_server"
	case errors.Is(err, errService):
		n.Kind, n.Code = resolver.ErrUnsupported, "not_offered_by_server"
	default:
		return err
	}
	return n
}
