// Package thttp asks resolution servers by THTTP, RFC 2169: a service of RFC 2483
// is a path, and its answer is a redirect or a text/uri-list.
package thttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Config says how servers are asked. All fields but Fields and Observe must be set.
type Config struct {
	// Transport fetches; it is given the guard, and follows no redirects.
	Transport http.RoundTripper
	// Timeout bounds one exchange, its body included.
	Timeout time.Duration
	// MaxBody bounds a list, in octets; MaxLocations how many are taken of it.
	MaxBody      int64
	MaxLocations int
	// DefaultTTL is that of answers which say nothing of their freshness, MaxTTL
	// the longest that any may have.
	DefaultTTL, MaxTTL time.Duration
	Now                func() time.Time
	// Fields adds the fields of a request that is made on behalf of ctx, such as Via; nil
	// adds none.
	Fields func(ctx context.Context, header http.Header)
	// Schemes are those of locations that servers may name, beside http and https, by
	// the NID of the name in lower case.
	Schemes map[string][]string
	// Observe is called with the outcome of each exchange; nil is not.
	Observe func(err error, took time.Duration)
}

// Client asks servers. It is safe for concurrent use.
type Client struct {
	config  Config
	sources sources
}

// New returns a Client.
func New(config Config) *Client { return &Client{config: config} }

// Path is where a server has its services, RFC 2169 section 2.
const Path = "/uri-res/"

// Ask asks the server at base, such as "http://resolver.example:8080", for a
// service, I2L or I2Ls. Its "no" is a *resolver.Negative; a server that cannot be
// asked, or makes no sense, is resolver.ErrUnreachable, and one that is too slow
// context.DeadlineExceeded.
func (c *Client) Ask(ctx context.Context, base string, q resolver.Query) (resolver.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	target := base + Path + name(q.Service) + "?" + q.URI.String() + q.Passed
	start := c.config.Now()
	answer, said, err := c.exchange(ctx, base, target, q)
	if c.config.Observe != nil {
		c.config.Observe(err, c.config.Now().Sub(start))
	}
	if t := resolver.TraceOf(ctx); t != nil {
		if err != nil {
			said = strings.TrimSpace(said + " " + err.Error())
		}
		took := c.config.Now().Sub(start)
		t.AddTook(took, "thttp", "GET %s: %s in %s", target, said, took.Round(time.Microsecond))
	}
	if err == nil || errors.As(err, new(*resolver.Negative)) {
		return answer, err
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return answer, fmt.Errorf("asking %s: %w", base, err)
}

// name is that of RFC 2169 section 3, which every server knows.
func name(s resolver.Service) string {
	if s == resolver.I2Ls {
		return "N2Ls"
	}
	return "N2L"
}

// exchange returns the answer of one server, and what it said, for a trace.
func (c *Client) exchange(ctx context.Context, base, target string, q resolver.Query) (resolver.Answer, string, error) {
	u, err := uri.Parse(target)
	if err != nil {
		return resolver.Answer{}, "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return resolver.Answer{}, "", fmt.Errorf("%w: %w", resolver.ErrUnreachable, err)
	}
	request.Header.Set("Accept", listType+", */*;q=0.1")
	if c.config.Fields != nil {
		c.config.Fields(ctx, request.Header)
	}
	response, err := c.config.Transport.RoundTrip(request)
	if err != nil {
		return resolver.Answer{}, "", err
	}
	defer response.Body.Close()
	ttl := min(freshness(response.Header, c.config.Now(), c.config.DefaultTTL), c.config.MaxTTL)
	said := ""
	if resolver.TraceOf(ctx) != nil {
		said = fmt.Sprintf("%d, ttl %s", response.StatusCode, ttl)
	}
	locations, err := c.locations(u, response, q)
	if err != nil {
		return resolver.Answer{}, said, negative(err, base, response.StatusCode, ttl)
	}
	answer := resolver.Answer{TTL: ttl}
	source := c.sources.of(base)
	for _, l := range locations { // which is a part of a text that must not live as long
		answer.Locations = append(answer.Locations, resolver.Location{URI: strings.Clone(l), From: source})
	}
	return answer, said, nil
}

// listType is the media type of RFC 2483 section 5.
const listType = "text/uri-list"

// locations reads the answer of a server: RFC 2169 sections 3.1 and 3.2.
func (c *Client) locations(asked uri.URI, response *http.Response, q resolver.Query) ([]string, error) {
	switch code := response.StatusCode; {
	case (code >= 300 && code < 400 || code == http.StatusOK && !isList(response.Header)) && response.Header.Get("Location") != "":
		location, err := c.redirect(asked, response.Header.Get("Location"), q)
		return []string{location}, err
	case code == http.StatusOK && isList(response.Header):
		return c.list(response.Body, q)
	case code == http.StatusNotFound, code == http.StatusNoContent: // RFC 2483 section 4.1: no output
		return nil, errNotFound
	case code == http.StatusGone:
		return nil, errGone
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return nil, fmt.Errorf("%w: it answered %d", resolver.ErrForbidden, code)
	case code == http.StatusNotImplemented:
		return nil, errService
	default:
		return nil, fmt.Errorf("%w: it answered %d without a location of %s", resolver.ErrUnreachable, code, q.Service)
	}
}

// check reports whether a server may name a location for a name.
func (c *Client) check(location uri.URI, q resolver.Query) error {
	if err := resolver.CheckLocation(location.String()); err != nil {
		return err
	}
	scheme := strings.ToLower(location.Scheme())
	if scheme == "http" || scheme == "https" {
		return nil
	}
	if slices.Contains(c.config.Schemes[q.NID()], scheme) {
		return nil
	}
	return fmt.Errorf("%w: resolution servers may not name locations of scheme %q for it", resolver.ErrForbidden, scheme)
}

func isList(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && kind == listType
}

// redirect reads a Location. It is the answer, and never followed: a server that
// sends its client to itself has none.
func (c *Client) redirect(asked uri.URI, text string, q resolver.Query) (string, error) {
	ref, err := uri.ParseReference(text)
	if err != nil {
		return "", fmt.Errorf("%w: its Location: %s", resolver.ErrUnreachable, err.Error()) // no fault of the client's
	}
	location, err := asked.Resolve(ref, uri.RFC3986)
	if err != nil {
		return "", fmt.Errorf("%w: its Location: %s", resolver.ErrUnreachable, err.Error())
	}
	if location.WithoutFragment().Normalize() == asked.Normalize() {
		return "", fmt.Errorf("%w: it redirects to itself", resolver.ErrUnreachable)
	}
	if err := c.check(location, q); err != nil {
		return "", fmt.Errorf("%w: its Location: %s", resolver.ErrUnreachable, err.Error())
	}
	return location.String(), nil
}

// list reads a text/uri-list. What is no location of ours passes over itself.
func (c *Client) list(body io.Reader, q resolver.Query) ([]string, error) {
	text, err := io.ReadAll(io.LimitReader(body, c.config.MaxBody+1))
	if err != nil {
		return nil, fmt.Errorf("%w: reading its list: %w", resolver.ErrUnreachable, err)
	}
	if int64(len(text)) > c.config.MaxBody {
		return nil, fmt.Errorf("%w: its list is longer than %d octets", resolver.ErrUnreachable, c.config.MaxBody)
	}
	uris, _ := uri.ParseList(string(text))
	var locations []string
	for _, u := range uris {
		if c.check(u, q) == nil && len(locations) < c.config.MaxLocations {
			locations = append(locations, u.String())
		}
	}
	if len(locations) == 0 {
		return nil, errNotFound
	}
	return locations, nil
}
