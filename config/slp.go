package config

import (
	"net/netip"
	"slices"
	"time"
)

// SLP names directory agents for the discovery of resolution servers: RFC 2608.
type SLP struct {
	Agents  []Agent       `mapstructure:"agents"` // or a multicast group of them; empty: SLP is not used
	Scopes  []string      `mapstructure:"scopes"`
	Timeout time.Duration `mapstructure:"timeout"` // for one agent
}

// Enabled reports whether directory agents are configured.
func (c SLP) Enabled() bool { return len(c.Agents) > 0 }

// Group returns the multicast group that is asked for directory agents; ok is false where agents have addresses of their own.
func (c SLP) Group() (group netip.AddrPort, ok bool) {
	if len(c.Agents) != 1 || !c.Agents[0].Addr().IsMulticast() {
		return netip.AddrPort{}, false
	}
	return c.Agents[0].AddrPort, true
}

func slpSettings() []Setting {
	return []Setting{
		{
			Path: "slp", Invalidates: Answers | Snapshot,
			Doc: "Service location, RFC 2608: directory agents know the THTTP servers of namespaces, as services of " +
				"the type service:urn-resolver:thttp with the attribute nid.",
		},
		{
			Path: "slp.agents", Default: []Agent{}, Form: "IP address, with or without port", check: checkAgents,
			Doc: "IP addresses, with or without port, or that of a multicast group alone, such as 239.255.255.253 (RFC 2608 section 4.1), " +
				"in which agents are asked for. Empty: SLP is not used.",
		},
		{
			Path: "slp.scopes", Default: []string{"DEFAULT"}, Form: "text", check: checkScopes,
			Doc: "the scopes in which services are searched",
		},
		{Path: "slp.timeout", Default: 5 * time.Second, Least: time.Millisecond, Most: time.Minute, Doc: "for one agent"},
	}
}

func checkScopes(f *Faults, path string, value any) {
	if scopes, _ := value.([]string); len(scopes) == 0 || slices.Contains(scopes, "") {
		f.add(path, "names no scope: agents answer only requests for one of their scopes (RFC 2608 section 8.1)")
	}
}

// checkAgents refuses a multicast group beside other agents, whose requests go to one address each.
func checkAgents(f *Faults, path string, value any) {
	agents, _ := value.([]Agent)
	for i, agent := range agents {
		if agent.Addr().IsMulticast() && len(agents) > 1 {
			f.add(index(path, i), "%s is a multicast group, and the other agents have addresses: write the group alone, or the addresses", agent.Addr())
		}
	}
}
