// Package nntp retrieves groups and articles from news servers: RFC 3977, RFC 977 and RFC 5538.
package nntp

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields but Servers, User, Password and RootCAs must be set.
type Config struct {
	Dial   scheme.Dial
	Limits scheme.Limits
	Now    func() time.Time
	// Servers are asked, in order, for URLs without host; User logs in there, unless it is empty.
	Servers        []Server
	User, Password string
	Page           int            // articles of a page
	RootCAs        *x509.CertPool // that certificates of servers are verified with; nil for those of the system
}

// Server is a news server.
type Server struct {
	Address string // "host:port"
	TLS     bool   // from the start
}

// Handler implements scheme.Handler. It is safe for concurrent use. It has no connections but those of
// its requests, one each: what a server allows a user who has logged in is nothing that another gets.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

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
	if t.private || r.Header.Get("Authorization") != "" {
		resource.Header["Cache-Control"] = []string{"no-store"}
		return resource, nil
	}
	resource.Header["Vary"] = []string{"Authorization"} // what anybody gets is not for who logs in by the field
	if t.isArticle() {
		// An article never changes (RFC 5536 section 3.1.3), but may be cancelled.
		resource.Header["Cache-Control"] = []string{"public, max-age=86400"}
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

// fetch asks one server. The connection is closed at the end, or by the Body of the Resource.
func (h *Handler) fetch(ctx context.Context, r scheme.Request, t target, s server) (*scheme.Resource, error) {
	c, err := h.connect(ctx, r.Check, s)
	if err != nil {
		return nil, err
	}
	x := exchange{Handler: h, client: c, server: s, request: r, target: t}
	resource, err := x.retrieve()
	if err != nil {
		c.close()
		return nil, err
	}
	if resource.Body == http.NoBody {
		c.quit()
	}
	resource.From = c.from
	return resource, nil
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
