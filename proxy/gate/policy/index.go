package policy

import (
	"math"
	"net/netip"
)

// index finds the first rule that holds without comparing most of the others. A rule is indexed by one of its
// conditions, once per value: by hosts, clients or users, whichever it shares with the fewest rules, else by
// destinations. Rules with none of them, or with lists in the condition, are compared one by one. The zero
// value is empty.
type index struct {
	hosts   hosts
	clients networks
	users   map[string][]int32
	// The rules without these conditions. Those with destinations are also in somewhere, for requests with an
	// unknown destination.
	destinations networks
	somewhere    []int32
	rest         []int32
}

// nowhere is greater than the number of each rule.
const nowhere = math.MaxInt32

// add adds a rule. Rules are added in order.
func (x *index) add(r *rule, all []host, number int32, c *crowds) {
	alone := []int32{number}
	switch c.best(&r.Rule) {
	case byHosts:
		x.hosts.add(all, number)
		return // a rule found by its host need not compare the host
	case byClients:
		for _, network := range r.Clients {
			x.clients.add(network, alone)
		}
	case byUsers:
		if x.users == nil {
			x.users = make(map[string][]int32)
		}
		for _, user := range r.Users {
			addRule(x.users, user, alone)
		}
	case byNone:
		if len(r.DestinationLists) == 0 {
			for _, network := range r.Destinations {
				x.destinations.add(network, alone)
			}
		}
		if len(r.Destinations) > 0 && len(r.DestinationLists) == 0 {
			x.somewhere = append(x.somewhere, number)
		} else {
			x.rest = append(x.rest, number)
		}
	}
	if len(all) > 0 {
		r.hosts = new(hosts)
		r.hosts.add(all, 0)
	}
}

// search is a search for the first rule that holds.
type search struct {
	rules       []rule
	request     Request    // a copy: a pointer would escape to the heap, since lists are interfaces
	literal     netip.Addr // the address of the host if it is one
	dialled     bool       // destinations are compared, too
	destination netip.Addr // the zero value if unknown
	// The number of the first matching rule so far, nowhere for none: later rules need not be compared.
	first int32
}

// first returns the number of the first rule of the index that holds, or s.first if none before it does.
func (x *index) first(s search) int32 {
	x.hosts.find(s.request.Host, s.literal, s.compare)
	x.clients.find(plain(s.request.Client), s.compare)
	s.compare(x.users[s.request.User])
	if s.destination.IsValid() {
		x.destinations.find(s.destination, s.compare)
		if s.destination.IsUnspecified() { // see matchesDestination
			x.destinations.find(ownAddress(s.destination), s.compare)
		}
	} else {
		s.compare(x.somewhere)
	}
	s.compare(x.rest)
	return s.first
}

// compare compares a list of rules, in order, up to the first that holds. It returns true, since another list
// may have an earlier one.
func (s *search) compare(numbers []int32) bool {
	for _, number := range numbers {
		if number >= s.first {
			break
		}
		if r := &s.rules[number]; (!s.dialled || r.matchesDestination(s.destination)) &&
			r.holds(&s.request, s.literal) {
			s.first = number
			break
		}
	}
	return true
}

// by is the condition by which a rule is indexed.
type by int

const (
	byNone by = iota
	byHosts
	byClients
	byUsers
)

// crowds count the rules that share a value, among the rules that can be indexed by several conditions.
type crowds struct {
	hosts, users map[string]int
	clients      map[netip.Prefix]int
}

func newCrowds(rules []Rule) *crowds {
	const few = 16 // comparing few rules is as fast as counting
	c := &crowds{make(map[string]int), make(map[string]int), make(map[netip.Prefix]int)}
	var several []*Rule
	for i := range rules {
		if r := &rules[i]; min(len(r.Hosts), 1)+min(len(r.Users), 1)+min(len(r.Clients), 1) > 1 {
			several = append(several, r)
		}
	}
	if len(several) <= few {
		return c
	}
	for _, r := range several {
		count(c.hosts, r.Hosts)
		count(c.users, r.Users)
		count(c.clients, r.Clients)
	}
	return c
}

func count[K comparable](counts map[K]int, values []K) {
	for _, value := range values {
		counts[value]++
	}
}

// best returns the condition whose values a rule shares with the fewest others.
func (c *crowds) best(r *Rule) by {
	best, least := byNone, math.MaxInt
	for _, condition := range [...]struct {
		by    by
		crowd int
	}{
		{byHosts, crowd(c.hosts, r.Hosts, len(r.HostLists))},
		{byClients, crowd(c.clients, r.Clients, len(r.ClientLists))},
		{byUsers, crowd(c.users, r.Users, 0)},
	} {
		if condition.crowd < least {
			best, least = condition.by, condition.crowd
		}
	}
	return best
}

// crowd returns the number of rules that share the most shared value; MaxInt for a condition without values,
// or with lists, by which a rule cannot be indexed.
func crowd[K comparable](counts map[K]int, values []K, lists int) int {
	if len(values) == 0 || lists > 0 {
		return math.MaxInt
	}
	most := 0
	if len(counts) > 0 {
		for _, value := range values {
			most = max(most, counts[value])
		}
	}
	return most
}
