package adversary

// clients are attacks of one client on another, who share what a proxy has: keys, exchanges, stored responses,
// connections, marks of failure (issue 23). The answer to a victim must be what it would be without the attacker.
func clients(s *stage) []payload { return s.arena.attacks() }

// clientsFamily is attacks of one kind.
type clientsFamily struct {
	name    string
	attacks []attack
}

func clientsFamilies() []clientsFamily {
	return []clientsFamily{
		{"clients: harmless", harmlessRequests()},
		{"clients: fields", withFields()},
		{"clients: cookies", withCookies()},
		{"clients: credentials", withCredentials()},
		{"clients: errors", withErrors()},
		{"clients: ranges", withRanges()},
		{"clients: hosts", withHosts()},
		{"clients: methods", withMethods()},
		{"clients: variants", withVariants()},
		{"clients: costs", withCosts()}, // alone: it measures the processor
		{"clients: connections", withConnections()},
		{"clients: leaders", withLeaders()},
		{"clients: bodies", withBodies()},
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
