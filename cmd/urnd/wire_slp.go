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

// foundSize bounds the memory for servers that were found: a few for a namespace.
const foundSize = 1 << 20

// speaksSLP reports whether there are directory agents to ask.
func speaksSLP(c config.SLP) bool { return len(c.Agents) > 0 || c.Multicast }

// wireSLP returns the resolver that asks directory agents, or one that says why not. It
// can reach nobody else.
func wireSLP(r *resolution, c config.Config, ask *thttp.Client, d dependencies) (resolver.Resolver, error) {
	if !speaksSLP(c.SLP) {
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
		Agents: names, Group: group, Scopes: c.SLP.Scopes, Lang: c.SLP.Language, Timeout: c.SLP.Timeout, NoneTTL: c.SLP.NoneTTL,
		Dial: netguard.Only(c.SLP.Timeout, addrs...).DialContext, Ask: ask.Ask, Found: r.found.Cache, Now: d.now,
		Observe: observers{d.metrics}.gateway("slp"),
	})
	return r.servers, nil
}
