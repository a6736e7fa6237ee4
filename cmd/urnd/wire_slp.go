package main

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/slp"
	"github.com/urnd/urnd/resolver/thttp"
)

// foundSize bounds the memory for servers that SLP has found, in octets: a few for a namespace.
const foundSize = 1 << 20

// wireSLP returns the resolver by SLP, or one whose answer is why it is turned off. It can
// connect to directory agents only.
func wireSLP(r *resolution, c config.Config, client *thttp.Client, d resolverDependencies) (resolver.Resolver, error) {
	if !c.SLP.Enabled() {
		return resolver.Off("no directory agent is configured (slp.agents)"), nil
	}
	var names []string
	for _, agent := range c.SLP.Agents {
		names = append(names, agent.String())
	}
	var group slp.Open
	if address, ok := c.SLP.Group(); ok {
		names, group = nil, netguard.Group(address)
	}
	d.previous = nil // what was found may have moved: a reload discovers it again
	var err error
	bounds := memory.Config[slp.Servers]{MaxBytes: foundSize, Size: slp.ServersSize}
	if r.found, err = newCache(r, c, d, "found", config.Answers, true, bounds, nil); err != nil {
		return nil, err
	}
	r.servers = slp.New(slp.Config{
		Agents: names, Group: group, Scopes: c.SLP.Scopes, Lang: "en", Timeout: c.SLP.Timeout, NegativeTTL: noAgentTTL,
		Dial: dialAgent(c.SLP), Ask: client.Ask, Cache: r.found.Cache, Now: d.now,
		Recheck: c.Resolve.Backoff, Backoff: r.backoff("directory agent (SLP)", c.Resolve, d), Unusable: d.unusable,
		Observe: observe.Exchanges(d.metrics, "slp"),
	})
	return r.limited(r.servers), nil
}

// noAgentTTL is how long it is known that no agent knows a server: a server that registers (RFC 2608 section 8.3) is found then.
const noAgentTTL = time.Minute

// dialAgent returns how to connect to directory agents: those of the configuration, or those
// that answered the multicast group.
func dialAgent(c config.SLP) func(ctx context.Context, network, address string) (net.Conn, error) {
	var addrs []netip.Addr
	for _, agent := range c.Agents {
		addrs = append(addrs, agent.Addr())
	}
	if _, isGroup := c.Group(); !isGroup {
		return netguard.Only(c.Timeout, addrs...).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		answered, err := netip.ParseAddrPort(address)
		if err != nil {
			return nil, err
		}
		return netguard.Only(c.Timeout, answered.Addr()).DialContext(ctx, network, address)
	}
}
