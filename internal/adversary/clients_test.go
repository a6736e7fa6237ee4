package adversary

// clients are attacks of one client on another, who share what a proxy has: keys, exchanges, stored responses,
// connections, marks of failure (issue 23). The answer to a victim must be what it would be without the attacker.
func clients(s *stage) []payload { return s.arena.attacks() }

// clientsFamily is attacks of one kind.
type clientsFamily struct {
	name    string
	attacks []attack
	// urndOnly is that others are not attacked: the attacks know what urnd is, and how it is configured.
	urndOnly bool
}

func clientsFamilies() []clientsFamily {
	return []clientsFamily{
		{"clients: harmless", harmlessRequests(), false},
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
		{"clients: costs", withCosts(), true}, // alone: it measures the processor
		{"clients: blame", withBlame(), true},
		{"clients: connections", withConnections(), false},
		{"clients: leaders", withLeaders(), false},
		{"clients: bodies", withBodies(), false},
	}
}

// attacks are the payloads of all families.
func (a *arena) attacks() (all []payload) {
	own := 1 // the first pair of origins is for what harms the name of none
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
