package ddds

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// finish makes the terminal rules of one order into locations. Servers of the
// first rule that cannot be looked up are a failure (RFC 3403 section 8); the
// other rules of its order are alternatives, and may have none.
func (w *walk) finish(ctx context.Context, matches []match) (resolver.Answer, error) {
	var locations []resolver.Location
	add := func(uri string) {
		locations = append(locations, resolver.Location{URI: uri, Source: w.source})
	}
	for i, m := range matches {
		switch m.flag {
		case 'U':
			add(m.key)
		case 'A':
			add(w.request(m, strings.TrimSuffix(m.key, ".")))
		case 'S':
			servers, ttl, err := w.lookup.SRV(ctx, m.key)
			if err != nil && i == 0 {
				return resolver.Answer{}, w.missing(err)
			}
			if err != nil {
				continue
			}
			w.use(ttl)
			for _, server := range inOrder(servers) {
				add(w.request(m, strings.TrimSuffix(server.Target, ".")+":"+strconv.Itoa(int(server.Port))))
			}
		}
	}
	if len(locations) == 0 {
		return resolver.Answer{}, w.refuse("%s has no server", matches[0].key)
	}
	return resolver.Answer{Locations: locations, TTL: w.ttl}, nil
}

// request returns the URL of the THTTP request that answers the query: the
// client is sent to the resolver that the zone names (RFC 2169 section 2).
func (w *walk) request(m match, host string) string {
	scheme, _ := thttpScheme(m.services.protocol)
	return scheme + "://" + host + "/uri-res/N2L?" + w.aus
}

// inOrder returns servers by priority, and those of one priority in a random
// order by weight (RFC 2782). The target "." is a service that is not there; a
// target that is no host name passes over itself.
func inOrder(servers []SRV) []SRV {
	left := slices.DeleteFunc(slices.Clone(servers), func(s SRV) bool {
		_, err := domainName(s.Target)
		return err != nil
	})
	slices.SortStableFunc(left, func(a, b SRV) int { return int(a.Priority) - int(b.Priority) })
	ordered := make([]SRV, 0, len(left))
	for len(left) > 0 {
		same := 1
		for same < len(left) && left[same].Priority == left[0].Priority {
			same++
		}
		i := pick(left[:same])
		ordered = append(ordered, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return ordered
}

// pick chooses one of servers with a chance in proportion to its weight.
func pick(servers []SRV) int {
	total := 0
	for _, s := range servers {
		total += s.share()
	}
	n := rand.IntN(total) //nolint:gosec // spreads load, guards nothing
	for i, s := range servers {
		if n -= s.share(); n < 0 {
			return i
		}
	}
	return 0
}

// share is the weight in hundredths, so that weight 0 can have a very small
// chance, as RFC 2782 wants, and take nothing from the proportion of others.
func (s SRV) share() int { return max(100*int(s.Weight), 1) }
