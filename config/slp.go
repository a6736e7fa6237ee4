package config

import (
	"net/netip"
	"slices"
)

// Enabled reports whether directory agents are configured.
func (c SLP) Enabled() bool { return len(c.Agents) > 0 }

// Group returns the multicast group that is asked for directory agents; ok is false where agents have addresses of their own.
func (c SLP) Group() (group netip.AddrPort, ok bool) {
	if len(c.Agents) != 1 || !c.Agents[0].Addr().IsMulticast() {
		return netip.AddrPort{}, false
	}
	return c.Agents[0].AddrPort, true
}

func checkScopes(f *Faults, path string, value any) {
	if scopes, _ := value.([]string); len(scopes) == 0 || slices.Contains(scopes, "") {
		f.Add(path, "names no scope: agents answer only requests for one of their scopes (RFC 2608 section 8.1)")
	}
}

// checkAgents refuses a multicast group beside other agents, whose requests go to one address each.
func checkAgents(f *Faults, path string, value any) {
	agents, _ := value.([]Agent)
	for i, agent := range agents {
		if agent.Addr().IsMulticast() && len(agents) > 1 {
			f.Add(index(path, i), "%s is a multicast group, and the other agents have addresses: write the group alone, or the addresses", agent.Addr())
		}
	}
}
