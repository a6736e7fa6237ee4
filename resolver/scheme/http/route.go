package http

import (
	"context"
	"errors"
	"net"
	"syscall"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/uri"
)

// Route is the ways to the server of one request, which are tried one after another.
type Route interface {
	// Next returns the upstream proxy that is tried next, nil where the server itself is connected to, which is the last way. ok is
	// false where no way is left.
	Next() (u *Upstream, ok bool)
	// Failed says that a proxy that Next has returned gave no connection. It is called before another Next.
	Failed(u *Upstream, err error)
}

// Via is a Route through one proxy.
func Via(u *Upstream) Route { return &single{u} }

type single struct{ upstream *Upstream }

// Next implements Route.
func (s *single) Next() (u *Upstream, ok bool) {
	u, s.upstream = s.upstream, nil
	return u, u != nil
}

// Failed implements Route.
func (*single) Failed(*Upstream, error) {}

// unreached is an error of connecting to an upstream proxy: nothing of a request was sent, so that another one may be tried. What
// fails behind that may be due to what is requested, and says nothing about the proxy for others.
type unreached struct{ error }

func (u unreached) Unwrap() error { return u.error }

// ofDial makes an error of dialling unreached, unless it is about this machine, such as a free port.
func ofDial(err error) error {
	var operation *net.OpError
	if errors.Is(err, netguard.ErrConnectTimeout) || errors.Is(err, netguard.ErrLookup) || errors.As(err, &operation) && operation.Op == "dial" &&
		!errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
		return unreached{err}
	}
	return err
}

// alongRoute calls try with the ways to a server, until one could be connected to. What it returns else is the error of the last one.
func (h *Handler) alongRoute(ctx context.Context, u uri.URI, try func(*Upstream) error) error {
	var route Route
	if h.config.Upstream != nil {
		route = h.config.Upstream(u)
	}
	if route == nil {
		return try(nil)
	}
	for err := errNoWay; ; {
		upstream, ok := route.Next()
		if !ok {
			return err
		}
		if err = try(upstream); upstream == nil || !errors.As(err, new(unreached)) || ctx.Err() != nil {
			return err
		}
		route.Failed(upstream, err)
	}
}
