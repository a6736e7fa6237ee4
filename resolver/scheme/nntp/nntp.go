// Package nntp retrieves groups and articles from news servers: RFC 3977, RFC 977 and RFC 5538.
package nntp

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields but Servers, User, Password, RootCAs and MaxIdle must be set.
type Config struct {
	Dial   scheme.Dial
	Limits scheme.Limits
	Now    func() time.Time
	// Servers are asked, in order, for URLs without host; User logs in there, unless it is empty.
	Servers        []Server
	User, Password string
	Page           int // articles of a page
	// MaxIdle bounds the connections that wait for the next request, half of them to one server, and Idle how long each
	// does. 0 ends each after its request.
	MaxIdle int
	Idle    time.Duration
	RootCAs *x509.CertPool // that certificates of servers are verified with; nil for those of the system
}

// Server is a news server.
type Server struct {
	Address string // "host:port"
	TLS     bool   // from the start
}

// Handler implements scheme.Handler. It is safe for concurrent use. A connection has one request at a time, and is used
// again for the same server and user only: what a server allows a user who has logged in is nothing that another gets.
type Handler struct {
	config Config
	pool   *scheme.Pool[string, *client]
}

// New returns a Handler.
func New(config Config) *Handler {
	return &Handler{config, scheme.NewPool[string](scheme.PoolConfig[*client]{
		Most: config.MaxIdle, OfServer: scheme.Half(config.MaxIdle), Timeout: config.Idle, Now: config.Now, Close: (*client).Close,
	})}
}

// Close ends the connections that wait, and those in use when their requests end.
func (h *Handler) Close() { h.pool.Close() }

// errNoServer is for URLs without host.
var errNoServer = fmt.Errorf("%w: no news server is configured", scheme.ErrOff)

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	t, err := h.newTarget(r)
	if err != nil {
		return nil, err
	}
	resource, err := h.fetchAny(ctx, r, t)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("asking a news server: %w", context.Cause(ctx))
		}
		return nil, err
	}
	if t.private || r.Fields.Value("Authorization") != "" {
		resource.Fields.Set("Cache-Control", "no-store")
		return resource, nil
	}
	resource.Fields.Set("Vary", "Authorization") // what anybody gets is not for who logs in by the field
	if t.isArticle() {
		// An article never changes (RFC 5536 section 3.1.3), but may be cancelled.
		resource.Fields.Set("Cache-Control", "public, max-age=86400")
	}
	return resource, nil
}

// fetchAny asks the servers in order, the next one where one is not available or does not have it.
func (h *Handler) fetchAny(ctx context.Context, r scheme.Request, t target) (*scheme.Resource, error) {
	err := errNoServer
	var empty *scheme.Resource
	for _, s := range t.servers {
		resource, failure := h.fetch(ctx, r, t, s)
		switch {
		case failure == nil && isEmpty(resource):
			empty = resource
			continue
		case failure == nil:
			return resource, nil
		case ctx.Err() != nil:
			return nil, failure
		case errors.Is(err, errNoServer) || isMissing(err): // what says more than that one does not have it
			err = failure
		}
	}
	if empty != nil && (errors.Is(err, errNoServer) || isMissing(err)) {
		return empty, nil
	}
	return nil, err
}

// isEmpty reports whether a resource is a list without groups, which another server may have.
func isEmpty(r *scheme.Resource) bool {
	return r.Listing != nil && r.Listing.Kind == scheme.KindGroups && len(r.Listing.Items) == 0
}

// isMissing reports whether a server says that it does not have what was asked for.
func isMissing(err error) bool {
	var refusal *scheme.Refusal
	return errors.As(err, &refusal) && refusal.Status == http.StatusNotFound
}

// fetch asks one server. One that has ended a connection which waited is asked once more, by a new one: nothing that is
// asked changes anything there.
func (h *Handler) fetch(ctx context.Context, r scheme.Request, t target, s server) (*scheme.Resource, error) {
	if c := h.waiting(ctx, r.Check, s); c != nil {
		resource, hasEnded, err := h.ask(c, r, t, s)
		if err == nil || !hasEnded || ctx.Err() != nil {
			return resource, err
		}
	}
	c, err := h.connect(ctx, r.Check, s)
	if err != nil {
		return nil, err
	}
	resource, _, err := h.ask(c, r, t, s)
	return resource, err
}

// ask asks by a connection, which is given back at the end, or by the Body of the Resource. hasEnded is whether the server
// has ended the connection.
func (h *Handler) ask(c *client, r scheme.Request, t target, s server) (resource *scheme.Resource, hasEnded bool, err error) {
	x := exchange{Handler: h, client: c, server: s, request: r, target: t}
	resource, err = x.retrieve()
	if c.isOver {
		h.dropServer(s)
	}
	hasEnded = c.isOver || errors.Is(err, resolver.ErrUnreachable)
	switch {
	case err != nil && !errors.As(err, new(*scheme.Refusal)):
		c.close()
	case err != nil || resource.Body == http.NoBody:
		h.giveBack(c)
	}
	if err != nil {
		return nil, hasEnded, err
	}
	resource.From = c.from // which does not change
	return resource, hasEnded, nil
}

// exchange is one request that one server is asked.
type exchange struct {
	*Handler
	client  *client
	server  server
	request scheme.Request
	target  target
}

// retrieve returns what the target is.
func (x exchange) retrieve() (*scheme.Resource, error) {
	switch {
	case x.target.isArticle() && x.target.query.Source:
		return x.source()
	case x.target.isArticle() && x.target.query.Part != "":
		return x.part()
	case x.target.isArticle():
		return x.article()
	case x.target.isPattern():
		return x.groups()
	default:
		return x.group()
	}
}
