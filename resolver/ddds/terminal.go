package ddds

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
)

// incompleteTTL is that of an answer in which an alternative is missing that could
// not be asked: it is tried again soon.
const incompleteTTL = 30 * time.Second

// finish makes the terminal rules of one order into locations. Servers of the
// first rule that cannot be looked up, or asked, are a failure (RFC 3403 section
// 8); the other rules of its order are alternatives, and may have none.
func (w *walk) finish(ctx context.Context, matches []match) (resolver.Answer, error) {
	var locations []resolver.Location
	for i, m := range matches {
		if m.flag == 'U' {
			locations = append(locations, w.location(m.key))
			continue
		}
		if m.flag == 0 || len(locations) > 0 && w.isEnough(m) {
			continue // it leads on, where others end; or one is enough
		}
		bases, err := w.bases(ctx, m)
		if err != nil && i == 0 {
			return resolver.Answer{}, w.missing(err)
		}
		found, err := w.serve(ctx, m, bases, err)
		if err != nil && (i == 0 || ctx.Err() != nil) {
			return resolver.Answer{}, w.limited(err)
		}
		if err != nil && !errors.As(err, new(*resolver.Negative)) {
			w.use(incompleteTTL)
		}
		locations = append(locations, found...)
	}
	if len(locations) == 0 {
		return resolver.Answer{}, w.refuse("%s has no server", matches[0].key)
	}
	return resolver.Answer{Locations: locations, TTL: w.ttl}, nil
}

// isEnough reports whether a rule need not be followed any more, where there is a
// location: to ask servers takes time, and to speak with others is the last resort.
func (w *walk) isEnough(m match) bool {
	return w.query.Service != resolver.I2Ls && (w.ask != nil || m.rank() > 0)
}

// serve returns what the first server that answers says, or, where servers are
// not asked, where to ask them. It passes on why there are none.
func (w *walk) serve(ctx context.Context, m match, bases []string, missing error) ([]resolver.Location, error) {
	if missing != nil {
		return nil, missing
	}
	if path, ok := w.reference(m); ok {
		var locations []resolver.Location
		for _, base := range bases {
			locations = append(locations, w.location(base+path))
		}
		return locations, nil
	}
	q := w.query
	q.Service = m.services.nearest(q.Service)
	answer, err := w.ask.Each(ctx, bases, q)
	switch {
	case errors.As(err, new(*resolver.Negative)):
		return nil, &serverSaid{err}
	case err == nil && len(answer.Locations) > 0: // none where there was nobody to ask
		w.use(answer.TTL)
	}
	return answer.Locations, err
}

// reference returns what stands behind a server in a location, where clients are led
// to it: to the resource, to a location, or to a session with no more to be said.
func (w *walk) reference(m match) (string, bool) {
	asked := "?" + w.aus + w.query.Passed
	switch {
	case m.rank() > 0:
		return "", true
	case m.services.leadsToResource(w.query.Service) && w.query.URI.IsURN():
		return "/uri-res/N2R" + asked, true
	case m.services.leadsToResource(w.query.Service):
		return "/uri-res/L2R" + asked, true
	default:
		return "/uri-res/N2L" + asked, w.ask == nil
	}
}

// serverSaid is the "no" of a server: it answers the question, and is no failure.
type serverSaid struct{ error }

func (s *serverSaid) Unwrap() error { return s.error }

// limited limits the "no" of a server to the TTL of the records that led to it.
func (w *walk) limited(err error) error {
	var n *resolver.Negative
	if !errors.As(err, &n) {
		return err
	}
	w.use(n.TTL)
	return &serverSaid{n.WithTTL(w.ttl, n.Cache)}
}

// bases returns the servers of a rule, in the order in which they are asked. What the
// flag P leaves to the protocol (RFC 3404 section 4.3) is, for all that are known, to
// find the host by its address, as A has it.
func (w *walk) bases(ctx context.Context, m match) ([]string, error) {
	p, _ := lookupProtocol(m.services.protocol)
	if m.flag != 'S' {
		return []string{p.scheme + "://" + strings.TrimSuffix(m.key, ".")}, nil
	}
	servers, proof, err := w.lookup.SRV(ctx, m.key)
	if err != nil {
		return nil, err
	}
	w.rest(proof)
	var bases []string
	for _, server := range inOrder(servers) {
		bases = append(bases, p.scheme+"://"+strings.TrimSuffix(server.Target, ".")+":"+strconv.Itoa(int(server.Port)))
	}
	return bases, nil
}

// inOrder returns servers by priority, and those of one priority in a random
// order by weight (RFC 2782). The target "." is a service that is not there; a
// target that is no host name is skipped.
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
