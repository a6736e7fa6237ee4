package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/route"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// spellings are the values of proxy.spelling, and of proxy.origins.*.spelling, where "" is the default.
func spellings() map[string]route.Spelling {
	return map[string]route.Spelling{
		"normal": route.SpellingNormal, "exact": route.SpellingExact, "redirect": route.SpellingRedirect,
		"": route.SpellingExact,
	}
}

// forwardings are the values of proxy.forwarded.
func forwardings() map[string]forward.Forwarded {
	return map[string]forward.Forwarded{
		"transparent": forward.ForwardedTransparent, "off": forward.ForwardedOff,
		"forwarded": forward.ForwardedStandard, "x-forwarded-for": forward.ForwardedFor,
	}
}

// continueTimeout is how long the body of a request that expects 100 is held back: few origins
// answer late, and some never do.
const continueTimeout = time.Second

// newWeb returns the clients for origins, and for tunnels, whose connections may be idle for longer.
func newWeb(c config.Config, r *resolution, d dependencies) (web, tunnels *schemehttp.Handler, err error) {
	upstream, err := upstreamsOf(c.Proxy.Upstreams)
	if err != nil {
		return nil, nil, err
	}
	guard := r.guard.Bounded(r.limits.outgoing)
	settings := schemehttp.Config{
		Dial: guard.WithIdleTimeout(c.Limits.OriginIdle), Upstream: upstream, Behind: guard.CheckBehind, Now: d.now,
		DialChecked: func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
			return guard.With(check).WithIdleTimeout(c.Limits.OriginIdle)(ctx, network, address)
		},
		HeaderTimeout: c.Limits.OriginTimeout, ContinueTimeout: continueTimeout, MaxIdle: min(maxIdle, c.Limits.Outgoing/2),
	}
	web = schemehttp.New(settings)
	settings.Dial, settings.MaxIdle = guard.DialContext, 0
	settings.DialChecked = func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
		return guard.With(check).DialContext(ctx, network, address)
	}
	return web, schemehttp.New(settings), nil
}

// tunnelBy returns the function that opens tunnels by a client.
func tunnelBy(h *schemehttp.Handler) func(context.Context, string, func(netip.AddrPort) error) (net.Conn, error) {
	return func(ctx context.Context, target string, check func(netip.AddrPort) error) (net.Conn, error) {
		conn, err := h.Tunnel(ctx, target, check)
		if err != nil {
			return nil, err
		}
		return conn, nil
	}
}

// upstreamsOf returns the function that selects the upstream proxy of a URI, nil where there is none.
// The hosts of each are compared as those of a rule.
func upstreamsOf(all []config.Upstream) (func(uri.URI) *schemehttp.Upstream, error) {
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	servers := make(map[string]*schemehttp.Upstream)
	rules := make([]policy.Rule, 0, len(all))
	for i, u := range all {
		id := strconv.Itoa(i)
		rules = append(rules, policy.Rule{ID: id, Hosts: u.Hosts})
		if u.Server == "direct" {
			continue
		}
		scheme, address, _ := strings.Cut(u.Server, "://")
		server := &schemehttp.Upstream{Scheme: scheme, Address: address, User: u.User}
		if u.Password != "" {
			text, err := secret.Read("proxy.upstreams."+id+".password", u.Password)
			if err != nil {
				return nil, err
			}
			server.Password = string(bytes.TrimSpace(text))
		}
		var err error
		if server.TLS, err = secret.ServerTLS("proxy.upstreams."+id+".tls", u.TLS); err != nil {
			return nil, err
		}
		servers[id] = server
	}
	selection, err := policy.New(policy.Enforce, rules)
	if err != nil {
		return nil, fmt.Errorf("proxy.upstreams: %w", err)
	}
	return func(u uri.URI) *schemehttp.Upstream {
		r, err := policy.NewRequest(netip.Addr{}, "", "", u.Normalize())
		if err != nil {
			return nil
		}
		return servers[selection.Decide(r).Rule]
	}, nil
}

// originsOf returns the sites that urnd is the gateway of.
func originsOf(c config.Proxy) ([]proxy.Origin, error) {
	origins := make([]proxy.Origin, 0, len(c.Origins))
	for i, site := range c.Origins {
		o := proxy.Origin{Host: uri.CanonicalHost(site.Host), Spelling: spellings()[site.Spelling]}
		switch site.Forwarded {
		case "":
			o.Forwarded = forwardings()[c.Forwarded]
		case "off":
			o.Forwarded = forward.ForwardedNothing
		default:
			o.Forwarded = forwardings()[site.Forwarded]
		}
		var err error
		if o.TLS, err = secret.ServerTLS("proxy.origins."+strconv.Itoa(i)+".tls", site.TLS); err != nil {
			return nil, err
		}
		for _, server := range site.Servers {
			u, err := uri.Parse(server)
			if err == nil { // the configuration was checked
				o.Servers = append(o.Servers, u.Normalize())
			}
		}
		origins = append(origins, o)
	}
	return origins, nil
}

// policyOf returns the policy of the forward proxy of a configuration.
func policyOf(c config.Config) (*policy.Policy, error) {
	mode, err := policy.ParseMode(c.Proxy.Policy)
	if err != nil {
		return nil, fmt.Errorf("proxy.policy: %w", err)
	}
	rules := make([]policy.Rule, 0, len(c.Proxy.Rules))
	for _, r := range c.Proxy.Rules {
		rule := policy.Rule{
			ID: r.ID, Deny: r.Action == "deny", Clients: r.Clients, Users: r.Users, Methods: r.Methods, Schemes: r.Schemes, Hosts: r.Hosts,
			Destinations: r.Destinations, Reason: r.Reason,
		}
		for _, ports := range r.Ports {
			rule.Ports = append(rule.Ports, policy.PortRange(ports))
		}
		rules = append(rules, rule)
	}
	p, err := policy.New(mode, rules)
	if err != nil {
		return nil, fmt.Errorf("proxy.rules: %w", err)
	}
	return p, nil
}
