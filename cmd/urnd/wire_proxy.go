package main

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/route"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// spellings returns the values of proxy.spelling and proxy.sites.*.spelling; "" is the default of the latter.
func spellings() map[string]route.Spelling {
	return map[string]route.Spelling{
		"normal": route.SpellingNormal, "exact": route.SpellingExact, "redirect": route.SpellingRedirect,
		"": route.SpellingExact,
	}
}

// forwardings returns the values of proxy.forwarded.
func forwardings() map[string]forward.Forwarded {
	return map[string]forward.Forwarded{
		"transparent": forward.ForwardedTransparent, "off": forward.ForwardedOff,
		"forwarded": forward.ForwardedStandard, "x-forwarded-for": forward.ForwardedFor,
	}
}

// continueTimeout is the time for which the body of a request with "Expect: 100-continue" is withheld: few
// origins take longer to respond, and some never do.
const continueTimeout = time.Second

// newOriginClient returns a client for origins.
func newOriginClient(c config.Config, s *service, r *resolution, d dependencies) (*schemehttp.Handler, error) {
	settings, guard, err := originSettings(c, s, r, d)
	if err != nil {
		return nil, err
	}
	settings.Dial, settings.StallTimeout = guard.WithIdleTimeout(c.Limits.OriginIdle), c.Limits.OriginIdle
	settings.DialChecked = func(ctx context.Context, network, address string,
		check func(netip.AddrPort) error,
	) (net.Conn, error) {
		return guard.WithCheck(check).WithIdleTimeout(c.Limits.OriginIdle)(ctx, network, address)
	}
	settings.MaxIdle = min(maxIdle, c.Limits.Outgoing/2)
	return schemehttp.New(settings), nil
}

// newTunnelClient returns the client for tunnels, to whose connections the idle timeout of origins does not
// apply.
func newTunnelClient(c config.Config, s *service, r *resolution, d dependencies) (*schemehttp.Handler, error) {
	settings, guard, err := originSettings(c, s, r, d)
	if err != nil {
		return nil, err
	}
	settings.Dial = guard.DialContext
	settings.DialChecked = func(ctx context.Context, network, address string,
		check func(netip.AddrPort) error,
	) (net.Conn, error) {
		return guard.WithCheck(check).DialContext(ctx, network, address)
	}
	return schemehttp.New(settings), nil
}

// originSettings returns the common settings of clients for origins, and their dialer.
func originSettings(
	c config.Config, s *service, r *resolution, d dependencies,
) (schemehttp.Config, *netguard.Guard, error) {
	guard := r.guard.WithTimeout(c.Limits.ConnectTimeout).WithLimiter(r.limits.outgoing)
	settings := schemehttp.Config{
		CheckViaProxy: guard.CheckViaProxy, Now: d.now,
		HeaderTimeout: c.Limits.OriginTimeout, ContinueTimeout: continueTimeout,
	}
	if len(c.Proxy.Upstreams) > 0 {
		selector, err := upstreamsOf(c, s, r, d)
		if err != nil {
			return schemehttp.Config{}, nil, err
		}
		settings.Upstream = selector.Route
	}
	return settings, guard, nil
}

// tunnelBy returns the function that opens tunnels with a client.
func tunnelBy(h *schemehttp.Handler) func(context.Context, string, func(netip.AddrPort) error) (net.Conn, error) {
	return func(ctx context.Context, target string, check func(netip.AddrPort) error) (net.Conn, error) {
		conn, err := h.Tunnel(ctx, target, check)
		if err != nil {
			return nil, err
		}
		return conn, nil
	}
}
