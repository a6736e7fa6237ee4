// Package thttp is the client for resolution servers by THTTP, RFC 2169: a service of
// RFC 2483 is a path, and its answer is a redirect or a text/uri-list.
package thttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Config is the configuration of a Client. All fields except Fields, Schemes and Observe
// must be set.
type Config struct {
	// Transport sends requests. It must restrict destinations, and not follow redirects.
	Transport http.RoundTripper
	// Timeout bounds one exchange, its body included.
	Timeout time.Duration
	// MaxBody bounds a list, in octets; MaxLocations bounds the locations used from it.
	MaxBody      int64
	MaxLocations int
	// DefaultTTL is the TTL of answers without a freshness lifetime. MaxTTL bounds the
	// TTL of every answer.
	DefaultTTL, MaxTTL time.Duration
	Now                func() time.Time
	// Fields adds header fields to a request, such as Via, from the values of ctx; it may
	// be nil.
	Fields func(ctx context.Context, header http.Header)
	// Schemes are the schemes of locations that servers may return in addition to http and
	// https, by NID in lower case.
	Schemes map[string][]string
	// Observe is called with the outcome of each exchange; it may be nil.
	Observe func(err error, took time.Duration)
	// Backoff remembers servers that could not be reached; it may be nil.
	Backoff *resolver.Backoff
}

// Client asks resolution servers. It is safe for concurrent use.
type Client struct {
	config  Config
	sources sources
}

// New returns a Client.
func New(config Config) *Client { return &Client{config: config} }

// Path is the prefix of the paths of services, RFC 2169 section 2.
const Path = "/uri-res/"

// Ask asks the server at base, such as "http://resolver.example:8080", for a
// service, I2L or I2Ls. A negative answer is a *resolver.Negative; a server that gives no
// usable answer is resolver.ErrUnreachable, one that refuses it resolver.ErrForbidden, and
// one that is too slow context.DeadlineExceeded.
func (c *Client) Ask(ctx context.Context, base string, q resolver.Query) (resolver.Answer, error) {
	if err := c.config.Backoff.Err(base); err != nil {
		if t := resolver.TraceOf(ctx); t != nil {
			t.Add("thttp", "%s: %s", base, err)
		}
		return resolver.Answer{}, fmt.Errorf("asking %s: %w", base, err)
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	target := base + Path + name(q.Service) + "?" + q.URI.String() + q.ResolutionParams
	start := c.config.Now()
	answer, summary, err := c.exchange(ctx, base, target, q)
	if c.config.Observe != nil {
		c.config.Observe(err, c.config.Now().Sub(start))
	}
	if t := resolver.TraceOf(ctx); t != nil {
		if err != nil {
			summary = strings.TrimSpace(summary + " " + err.Error())
		}
		took := c.config.Now().Sub(start)
		t.AddTook(took, "thttp", "GET %s: %s in %s", target, summary, took.Round(time.Microsecond))
	}
	if err == nil || errors.As(err, new(*resolver.Negative)) {
		return answer, err
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	if parent.Err() == nil {
		c.remember(base, start, err)
	}
	return answer, fmt.Errorf("asking %s: %w", base, err)
}

// remember records a failure of the server at base.
func (c *Client) remember(base string, sent time.Time, err error) {
	var dial *net.OpError
	switch {
	case !errors.As(err, new(unanswered)) || errors.Is(err, resolver.ErrForbidden):
	case errors.As(err, &dial) && dial.Op == "dial" && !dial.Timeout():
		c.config.Backoff.Unreachable(base, err)
	default: // it may be due to the name
		c.config.Backoff.Failed(base, sent, err)
	}
}

// unanswered is the error of a request without a response.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

// name returns the name of a service in RFC 2169 section 3, which every server supports.
func name(s resolver.Service) string {
	if s == resolver.I2Ls {
		return "N2Ls"
	}
	return "N2L"
}

// exchange returns the answer of one server, and a summary of the response for a trace.
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
		return resolver.Answer{}, "", unanswered{err}
	}
	c.config.Backoff.Answered(base)
	defer response.Body.Close()
	ttl := min(freshness(response.Header, c.config.Now(), c.config.DefaultTTL), c.config.MaxTTL)
	summary := ""
	if resolver.TraceOf(ctx) != nil {
		summary = fmt.Sprintf("%d, ttl %s", response.StatusCode, ttl)
	}
	locations, err := c.locations(u, response, q)
	if err != nil {
		return resolver.Answer{}, summary, negative(err, base, response.StatusCode, ttl)
	}
	answer := resolver.Answer{TTL: ttl}
	source := c.sources.of(base)
	for _, l := range locations { // cloned, as each is a substring of the whole list
		answer.Locations = append(answer.Locations, resolver.Location{URI: strings.Clone(l), From: source})
	}
	return answer, summary, nil
}

// listType is the media type of RFC 2483 section 5.
const listType = "text/uri-list"

// locations parses the response of a server: RFC 2169 sections 3.1 and 3.2.
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
		return nil, fmt.Errorf("%w: it answered %d without a location for %s", resolver.ErrUnreachable, code, q.Service)
	}
}

// check returns an error unless a server may return this location for a name.
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
	return fmt.Errorf("%w: resolution servers may not return locations with scheme %q for this namespace", resolver.ErrForbidden, scheme)
}

func isList(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && kind == listType
}

// redirect parses a Location field, which is the answer and is not followed. A redirect
// to the request URI itself is an error.
func (c *Client) redirect(asked uri.URI, text string, q resolver.Query) (string, error) {
	ref, err := uri.ParseReference(text)
	if err != nil {
		return "", fmt.Errorf("%w: its Location: %s", resolver.ErrUnreachable, err.Error()) // without %w: a *uri.ParseError is the client's error
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

// list parses a text/uri-list. Locations that are not allowed are skipped.
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

// The negative answers of a server.
var (
	errNotFound = errors.New("it does not know the name")
	errGone     = errors.New("it answers that the name is gone")
	errService  = errors.New("it does not offer the service")
)

// negative converts a negative answer to a *resolver.Negative; it returns other errors
// unchanged.
func negative(err error, base string, status int, ttl time.Duration) error {
	kinds := map[error]error{errNotFound: resolver.ErrNotFound, errGone: resolver.ErrGone, errService: resolver.ErrUnsupported}
	kind, ok := kinds[err]
	if !ok {
		return err
	}
	return &resolver.Negative{Kind: kind, Reason: fmt.Sprintf("%s answered %d: %s", base, status, err), TTL: ttl}
}
