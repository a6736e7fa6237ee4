// Package nntp fetches newsgroups and articles from news servers as scheme.Handler. A request for a news or
// nntp URL enters; a listing of groups or articles leaves, a displayed article, its source, or a part of it.
// Replies that deny a command become a scheme.StatusError. It implements the reader commands of RFC 3977 (and of
// RFC 977 and RFC 2980 for old servers), TLS by RFC 4642, logins by RFC 4643, and the URLs of RFC 5538.
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
	// Servers are tried in order for URLs without host; User logs in there, unless it is empty.
	Servers        []Server
	User, Password string
	PageSize       int // articles per page
	// MaxIdle is the maximum number of idle connections, half of them to one server, and IdleTimeout their
	// idle timeout. With 0 each connection is closed after its request.
	MaxIdle     int
	IdleTimeout time.Duration
	RootCAs     *x509.CertPool // trusted CAs; nil for those of the system
}

// Server is a news server.
type Server struct {
	Address string // "host:port"
	TLS     bool   // TLS from the start, without STARTTLS
}

// Handler implements scheme.Handler. It is safe for concurrent use. A connection carries one request at a time,
// and is reused only for the same server and user, because a login may allow more than others may read.
type Handler struct {
	config Config
	pool   *scheme.Pool[string, *client]
}

// New returns a Handler.
func New(config Config) *Handler {
	return &Handler{config, scheme.NewPool[string](scheme.PoolConfig[*client]{
		MaxIdle: config.MaxIdle, MaxIdlePerServer: scheme.MaxPerServer(config.MaxIdle), Timeout: config.IdleTimeout,
		Now: config.Now, Close: (*client).Close,
	})}
}

// Close closes the idle connections, and those in use after their requests.
func (h *Handler) Close() { h.pool.Close() }

// errNoServer is the error for a URL without host if no server is configured.
var errNoServer = fmt.Errorf("%w: no news server configured", scheme.ErrDisabled)

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	t, err := h.newTarget(r)
	if err != nil {
		return nil, err
	}
	resource, err := h.fetchAny(ctx, r, t)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("querying a news server: %w", context.Cause(ctx))
		}
		return nil, err
	}
	if t.private || r.Fields.Get("Authorization") != "" {
		resource.Fields.Set("Cache-Control", "no-store")
		return resource, nil
	}
	resource.Fields.Set("Vary", "Authorization") // clients that send Authorization may get another response
	if t.isArticle() {
		// Articles are immutable (RFC 5536 section 3.1.3), but may be canceled.
		resource.Fields.Set("Cache-Control", "public, max-age=86400")
	}
	return resource, nil
}

// fetchAny tries the servers in order, until one is available and has the target.
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
		case errors.Is(err, errNoServer) || isMissing(err): // any other error is more useful than a missing target
			err = failure
		}
	}
	if empty != nil && (errors.Is(err, errNoServer) || isMissing(err)) {
		return empty, nil
	}
	return nil, err
}

// isEmpty reports whether a resource is a list without groups; another server may have some.
func isEmpty(r *scheme.Resource) bool {
	return r.Listing != nil && r.Listing.Kind == scheme.KindGroups && len(r.Listing.Items) == 0
}

// isMissing reports whether the target does not exist at a server.
func isMissing(err error) bool {
	var refusal *scheme.StatusError
	return errors.As(err, &refusal) && refusal.Status == http.StatusNotFound
}

// fetch queries one server. If the server closed an idle connection, it retries on a new one: the commands are
// safe to repeat.
func (h *Handler) fetch(ctx context.Context, r scheme.Request, t target, s server) (*scheme.Resource, error) {
	if c := h.waiting(ctx, r.Check, s); c != nil {
		resource, hasEnded, err := h.roundTrip(c, r, t, s)
		if err == nil || !hasEnded || ctx.Err() != nil {
			return resource, err
		}
	}
	c, err := h.connect(ctx, r.Check, s)
	if err != nil {
		return nil, err
	}
	resource, _, err := h.roundTrip(c, r, t, s)
	return resource, err
}

// roundTrip sends the commands on a connection, which is released at the end, or by the Body of the Resource.
// hasEnded is true if the server has closed the connection.
func (h *Handler) roundTrip(
	c *client, r scheme.Request, t target, s server,
) (resource *scheme.Resource, hasEnded bool, err error) {
	x := exchange{Handler: h, client: c, server: s, request: r, target: t}
	resource, err = x.retrieve()
	if c.closing {
		h.dropServer(s)
	}
	hasEnded = c.closing || errors.Is(err, resolver.ErrUnreachable)
	switch {
	case err != nil && !errors.As(err, new(*scheme.StatusError)):
		c.close()
	case err != nil || resource.Body == http.NoBody:
		h.giveBack(c)
	}
	if err != nil {
		return nil, hasEnded, err
	}
	resource.RemoteAddr = c.from // immutable, so it may be read after giveBack
	return resource, hasEnded, nil
}

// exchange is one request to one server.
type exchange struct {
	*Handler
	client  *client
	server  server
	request scheme.Request
	target  target
}

// retrieve fetches the target.
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
