package adversary

// clients returns attacks of one client on another through the state shared in a proxy: cache keys, collapsed
// exchanges, stored responses, connections, and failure marks. The response to a victim must be the same as
// without the attacker.
func clients(s *stage) []payload { return s.arena.attacks() }

// clientsFamily contains attacks of one kind.
type clientsFamily struct {
	name    string
	attacks []attack
	// urndOnly excludes other proxies: the attacks depend on urnd and its configuration.
	urndOnly bool
}

func clientsFamilies() []clientsFamily {
	return []clientsFamily{
		{"clients: harmless", safelistedRequests(), false},
		{"clients: fields", withFields(), false},
		{"clients: cookies", withCookies(), false},
		{"clients: credentials", withCredentials(), false},
		{"clients: errors", withErrors(), false},
		{"clients: ranges", withRanges(), false},
		{"clients: hosts", withHosts(), false},
		{"clients: spellings", withSpellings(), false},
		{"clients: methods", withMethods(), false},
		{"clients: updates", withUpdates(), false},
		{"clients: variants", withVariants(), false},
		{"clients: costs", withCosts(), true}, // run alone, because it measures CPU time
		{"clients: blame", withBlame(), true},
		{"clients: connections", withConnections(), false},
		{"clients: leaders", withLeaders(), false},
		{"clients: bodies", withBodies(), false},
	}
}

// attacks returns the payloads of all families.
func (a *arena) attacks() (all []payload) {
	own := 1 // the first pair of origins is for attacks that harm no reputation
	for _, family := range clientsFamilies() {
		all = append(all, a.duels(family.name, family.attacks, own)...)
		for _, one := range family.attacks {
			if one.alone {
				own++
			}
		}
	}
	return all
}
