// Package thttp is the client for resolution servers by THTTP, RFC 2169: a service of RFC 2483 is a path. A
// canonical resolver.Query enters and becomes a GET request; its response, a redirect, a text/uri-list or a
// description, leaves as a resolver.Answer or a negative answer. Redirects are the answer, and are never
// followed.
package thttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Config is the configuration of a Client. All fields except Fields, Schemes, Observe and Backoff must be set.
type Config struct {
	// Web fetches "http" and "https" resources. It must restrict destinations, and must not follow redirects.
	Web scheme.Handler
	// Timeout is the timeout of one exchange, including its body.
	Timeout time.Duration
	// MaxBody limits the body of a list, in bytes; MaxLocations limits the locations used from it.
	MaxBody      int64
	MaxLocations int
	// DefaultTTL is the TTL of answers without a freshness lifetime. MaxTTL limits the TTL of every answer.
	DefaultTTL, MaxTTL time.Duration
	Now                func() time.Time
	// Fields adds header fields to a request, such as Via; it may be nil. ctx is the context of a load: see
	// resolver.Load.
	Fields func(ctx context.Context, fields *httpmessage.Fields)
	// Schemes restricts the schemes of locations that servers may return, in addition to http and https, by NID
	// in lower case. Without an entry all schemes are allowed that resolver.CheckLocation allows.
	Schemes map[string][]string
	// Observe is called with the outcome of each exchange; it may be nil.
	Observe func(err error, took time.Duration)
	// Backoff remembers failing servers; it may be nil.
	Backoff *resolver.Backoff
}

// Client queries resolution servers. It is safe for concurrent use.
type Client struct {
	config  Config
	sources sources
}

// New returns a Client.
func New(config Config) *Client { return &Client{config: config} }

// PathPrefix is the prefix of the paths of services, RFC 2169 section 2.
const PathPrefix = "/uri-res/"

// Query queries the server at base, such as "http://resolver.example:8080", for a service: locations (I2L, I2Ls),
// a description (I2C, I2Cs) or other names (I2N, I2Ns). A negative answer is a *resolver.Negative. The error is
// resolver.ErrUnreachable if the server gives no usable answer, resolver.ErrForbidden if it denies access, and
// context.DeadlineExceeded if it is too slow.
func (c *Client) Query(ctx context.Context, base string, q resolver.Query) (resolver.Answer, error) {
	if err := c.config.Backoff.Err(base); err != nil {
		if t := resolver.TraceOf(ctx); t != nil {
			t.Add(resolver.Step{
				Stage: "thttp", Code: "not_retried_yet",
				Public: "resolution server in backoff after a failure",
			}, "%s: %s", base, err)
		}
		return resolver.Answer{}, fmt.Errorf("querying %s: %w", base, err)
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	target := base + PathPrefix + resolver.THTTPName(q) + "?" + q.URI.String() + q.ResolutionParams
	start := c.config.Now()
	attempt := c.config.Backoff.Begin(base)
	defer attempt.Abandon()
	answer, summary, err := c.exchange(ctx, &attempt, base, target, q)
	if c.config.Observe != nil {
		c.config.Observe(err, c.config.Now().Sub(start))
	}
	if t := resolver.TraceOf(ctx); t != nil {
		step := resolver.Step{Stage: "thttp", Code: "server_answered"}
		if err != nil {
			step = resolver.FailedStep("thttp", err)
		}
		step.Public = "a resolution server: " + strings.TrimSpace(summary+" "+resolver.PublicOutcome(err))
		if err != nil {
			summary = strings.TrimSpace(summary + " " + err.Error())
		}
		step.Took = c.config.Now().Sub(start)
		t.Add(step, "GET %s: %s in %s", target, summary, step.Took.Round(time.Microsecond))
	}
	if err == nil || errors.As(err, new(*resolver.Negative)) {
		return answer, err
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	if parent.Err() == nil {
		c.remember(parent, &attempt, base, q.URI.String(), err)
	}
	return answer, fmt.Errorf("querying %s: %w", base, err)
}

// remember records a failure of the server at base.
func (c *Client) remember(ctx context.Context, attempt *resolver.Attempt, base, name string, err error) {
	var dial *net.OpError
	switch {
	case !errors.Is(err, scheme.ErrNoResponse) || errors.Is(err, resolver.ErrForbidden) || isOwnLimit(err):
	case errors.As(err, &dial) && dial.Op == "dial" && !dial.Timeout():
		attempt.Unreachable(err)
	default: // the name may be the cause
		attempt.Failed(name, err, func() bool { return c.answers(ctx, base) })
	}
}

// probeTimeout limits the request that checks whether a server responds at all.
const probeTimeout = 2 * time.Second

// answers reports whether a server responds to a request without a name, with any status. The request continues
// if ctx is cancelled.
func (c *Client) answers(ctx context.Context, base string) bool {
	u, err := uri.Parse(base + "/")
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(c.config.Timeout, probeTimeout))
	defer cancel()
	var fields httpmessage.Fields
	if c.config.Fields != nil {
		c.config.Fields(ctx, &fields)
	}
	response, err := c.config.Web.Fetch(ctx,
		scheme.Request{Request: httpmessage.Request{Method: http.MethodHead, URI: u, Fields: fields}})
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return true
}

// isOwnLimit reports whether a connection failed because a limit of this machine was reached, such as file
// descriptors or ports.
func isOwnLimit(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

// accept returns the Accept field for a service.
func accept(s resolver.Service) string {
	if describes(s) {
		return "application/json, application/ld+json, text/plain;q=0.9, */*;q=0.1"
	}
	return listType + ", */*;q=0.1"
}

// exchange returns the answer of one server, and a summary of the response for a trace.
func (c *Client) exchange(
	ctx context.Context, attempt *resolver.Attempt, base, target string, q resolver.Query,
) (resolver.Answer, string, error) {
	u, err := uri.Parse(target)
	if err != nil {
		return resolver.Answer{}, "", err
	}
	fields := httpmessage.NewFields(
		"Accept", accept(q.Service), "Accept-Encoding", "gzip, identity", resolver.HopsField,
		strconv.Itoa(int(q.Hops)+1),
	)
	if c.config.Fields != nil {
		c.config.Fields(ctx, &fields)
	}
	response, err := c.config.Web.Fetch(ctx,
		scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u.WithoutFragment(), Fields: fields}})
	if err != nil {
		return resolver.Answer{}, "", err
	}
	attempt.Answered()
	defer response.Body.Close()
	ttl := min(freshness(response.Fields, c.config.Now(), c.config.DefaultTTL), c.config.MaxTTL)
	summary := ""
	if resolver.TraceOf(ctx) != nil {
		summary = fmt.Sprintf("%d, ttl %s", response.Status, ttl)
	}
	found, err := c.read(ctx, u, response, q)
	if err != nil {
		return resolver.Answer{}, summary, negative(err, response.Status, ttl)
	}
	answer := resolver.Answer{TTL: ttl}
	source := c.sources.of(base, q.Service)
	for _, text := range found.uris { // cloned, as each is a substring of the whole list
		answer.Locations = append(answer.Locations, resolver.Location{URI: strings.Clone(text), From: source})
	}
	if found.mediaType != "" {
		described := *source
		// Cloned, as it may be a substring of the whole header section.
		described.Type, described.Language = strings.Clone(found.mediaType), found.language
		described.Content = found.content
		answer.Locations[0].From = &described
	}
	return answer, summary, nil
}
