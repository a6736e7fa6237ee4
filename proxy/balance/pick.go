package balance

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/uri"
)

// Tried is the set of servers that a request has tried. The zero value is empty. It belongs to one request and
// one pool.
type Tried struct{ servers set }

// Pick is a server picked for a request, which counts as outstanding until Release. The zero value is no
// server. It must not be copied.
type Pick struct {
	Server   uri.URI // as configured
	server   *server // nil for none
	released atomic.Bool
}

// Release ends the request. Only the first call has an effect; it does nothing for a nil Pick, or one without a
// server. It is safe for concurrent use.
func (p *Pick) Release() {
	if p != nil && p.server != nil && !p.released.Swap(true) {
		p.server.outstanding.Add(-1)
	}
}

// Pick picks a server for a request, and adds it to tried, which is nil for a request without retries. The key
// is that of Hash. Servers that are down or failing are picked only if all others are, too, or were tried. ok
// is false, and the pick has no server, if no candidate is left: all are drained or were tried, or the request
// has used up its retries.
//
// It is small enough to be inlined, so that a pick that does not escape in the caller is not allocated.
func (p *Pool) Pick(key string, tried *Tried) (pick *Pick, ok bool) {
	pick = &Pick{}
	return pick, p.pick(pick, key, tried, false)
}

// PickAvailable is Pick restricted to servers that are neither down nor failing: ok is false if none of them is left.
func (p *Pool) PickAvailable(key string, tried *Tried) (pick *Pick, ok bool) {
	pick = &Pick{}
	return pick, p.pick(pick, key, tried, true)
}

// pick sets the server of a pick and counts the request, or returns false.
func (p *Pool) pick(pick *Pick, key string, tried *Tried, onlyUp bool) bool {
	candidates := p.open
	if tried != nil {
		if limit := p.config.Retries; limit > 0 && tried.servers.len() > limit {
			return false
		}
		candidates &^= tried.servers
	}
	if onlyUp {
		candidates = p.preferred(candidates)
	}
	if candidates == 0 {
		return false
	}
	s := p.choose(candidates, key)
	s.outstanding.Add(1)
	s.requests.Add(1)
	if tried != nil {
		tried.servers |= s.bit
	}
	pick.Server, pick.server = s.URL, s
	return true
}

// preferred returns the candidates that are neither down nor failing.
func (p *Pool) preferred(candidates set) set {
	preferred := candidates & set(p.up.Load())
	if p.config.Failing != nil {
		for rest := preferred; rest != 0; rest = rest.rest() {
			if s := p.servers[rest.first()]; p.config.Failing(s.name) {
				preferred &^= s.bit
			}
		}
	}
	return preferred
}

// choose returns one of the candidates, of which there must be at least one.
func (p *Pool) choose(candidates set, key string) *server {
	if candidates.rest() == 0 {
		return p.servers[candidates.first()]
	}
	// Failing servers are excluded before choosing: choosing again would distort the shares of the others.
	preferred := p.preferred(candidates)
	if preferred == 0 {
		preferred = candidates
	}
	now := time.Time{}
	if preferred&set(p.starting.Load()) != 0 {
		now = p.config.Now()
	}
	switch {
	case preferred.rest() == 0 || p.config.Method == Failover:
		return p.servers[preferred.first()]
	case p.config.Method == LeastRequests:
		return p.pickLeastRequests(preferred, now)
	case p.config.Method == Hash:
		return p.pickRendezvous(preferred, key, now)
	default:
		return p.pickRoundRobin(preferred, now)
	}
}

// pickRoundRobin is smooth weighted round robin: each server gains its weight, and the server with the highest sum is
// picked and loses the total.
func (p *Pool) pickRoundRobin(candidates set, now time.Time) *server {
	p.mu.Lock()
	defer p.mu.Unlock()
	var best *server
	total := int64(0)
	for ; candidates != 0; candidates = candidates.rest() {
		s := p.servers[candidates.first()]
		weight := p.weight(s, now)
		s.turn += weight
		total += weight
		if best == nil || s.turn > best.turn {
			best = s
		}
	}
	best.turn -= total
	return best
}

// pickLeastRequests returns the server with the fewest outstanding requests in proportion to its weight.
func (p *Pool) pickLeastRequests(candidates set, now time.Time) *server {
	var equals set
	var outstanding, weight int64 // of equals
	for ; candidates != 0; candidates = candidates.rest() {
		s := p.servers[candidates.first()]
		o, w := s.outstanding.Load(), p.weight(s, now)
		switch { // compares o/w with outstanding/weight, without a division
		case equals == 0 || o*weight < outstanding*w:
			equals, outstanding, weight = s.bit, o, w
		case o*weight == outstanding*w:
			equals |= s.bit
		}
	}
	if equals.rest() == 0 {
		return p.servers[equals.first()]
	}
	return p.pickRoundRobin(equals, now)
}

// pickRendezvous returns the server with the highest score for a key: weight / -ln(u), where u is a hash of key and
// server between 0 and 1. The probability that a server has the highest score is proportional to its weight.
func (p *Pool) pickRendezvous(candidates set, key string, now time.Time) *server {
	var best *server
	highest := 0.0
	hash := hashOf(key)
	for ; candidates != 0; candidates = candidates.rest() {
		s := p.servers[candidates.first()]
		u := (float64(mix(hash^s.hash)>>11) + 0.5) / (1 << 53)
		if score := float64(p.weight(s, now)) / -math.Log(u); best == nil || score > highest {
			best, highest = s, score
		}
	}
	return best
}

// weight returns the current weight of a server in hundredths. now is that of choose.
func (p *Pool) weight(s *server, now time.Time) int64 {
	percent := int64(100)
	if set(p.starting.Load())&s.bit != 0 {
		percent = s.health.Load().percent(now, p.config.HealthCheck.SlowStart)
	}
	return int64(s.Weight) * percent
}

// hashOf is FNV-1a with a final mix: fast for short texts, and the same in every process.
func hashOf(text string) uint64 {
	hash := uint64(14695981039346656037)
	for i := range len(text) {
		hash = (hash ^ uint64(text[i])) * 1099511628211
	}
	return mix(hash)
}

// mix is the finalizer of SplitMix64: each bit of the result depends on all bits of x.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
