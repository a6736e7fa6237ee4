package main

import (
	"net/netip"

	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/slp"
	"github.com/urnd/urnd/resolver/thttp"
)

// foundSize bounds the memory for servers that SLP has found, in octets: a few for a namespace.
const foundSize = 1 << 20

// slpEnabled reports whether directory agents are configured.
func slpEnabled(c config.SLP) bool { return len(c.Agents) > 0 || c.Multicast }

// wireSLP returns the resolver by SLP, or one whose answer is why it is turned off. It can
// connect to directory agents only.
func wireSLP(r *resolution, c config.Config, client *thttp.Client, d resolverDependencies) (resolver.Resolver, error) {
	if !slpEnabled(c.SLP) {
		return resolver.Off("no directory agent is configured (slp.agents)"), nil
	}
	var addrs []netip.Addr
	var names []string
	for _, agent := range c.SLP.Agents {
		addrs, names = append(addrs, agent.Addr()), append(names, agent.String())
	}
	var group slp.Open
	if c.SLP.Multicast {
		group = netguard.Group(c.SLP.Group.AddrPort)
	}
	var err error
	if r.found, err = newCache(r, c, d, "found", true, memory.Config[slp.Servers]{MaxBytes: foundSize, Size: slp.ServersSize}); err != nil {
		return nil, err
	}
	r.servers = slp.New(slp.Config{
		Agents: names, Group: group, Scopes: c.SLP.Scopes, Lang: c.SLP.Language, Timeout: c.SLP.Timeout, NegativeTTL: c.SLP.NoneTTL,
		Dial: netguard.Only(c.SLP.Timeout, addrs...).DialContext, Ask: client.Ask, Cache: r.found.Cache, Now: d.now,
		Observe: observers{d.metrics}.gateway("slp"),
	})
	return r.servers, nil
}
