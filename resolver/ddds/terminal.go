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

// incompleteTTL is the TTL of an answer that lacks an alternative because a server failed, so that the server is soon
// tried again.
const incompleteTTL = 30 * time.Second

// finish returns the locations from the terminal rules of one order. It fails if the lookup or the servers of
// the first rule fail (RFC 3403 section 8). The other rules of the order are alternatives, whose failures are
// ignored.
func (w *walk) finish(ctx context.Context, matches []match) (resolver.Answer, error) {
	var c collected
	for i, m := range matches {
		if m.flag == 'U' {
			c.add(w.location(m.key))
			continue
		}
		if m.flag == 0 || c.full() || len(c.locations) > 0 && w.canSkip(m) {
			continue // not terminal, or one location suffices
		}
		bases, err := w.bases(ctx, m)
		if err != nil && i == 0 {
			return resolver.Answer{}, w.lookupError(err)
		}
		found, err := w.queryServers(ctx, m, bases, err)
		if err != nil && (i == 0 || ctx.Err() != nil) {
			return resolver.Answer{}, w.limitNegative(err)
		}
		if err != nil && !errors.As(err, new(*resolver.Negative)) {
			w.limitTTL(incompleteTTL, "reply without a failed server")
		}
		c.add(found...)
	}
	if len(c.locations) == 0 {
		return resolver.Answer{},
			w.notFound("no_server_of_domain", []string{"Domain", matches[0].key}, matches[0].key+" has no server")
	}
	return c.answer(ctx, w), nil
}

// canSkip reports whether a rule is not needed once there is a location: querying servers takes time, and
// protocols that urnd does not implement are the last resort.
func (w *walk) canSkip(m match) bool {
	return w.query.Service != resolver.I2Ls && (w.queryFunc != nil || m.rank() > 0)
}

// queryServers returns the locations from the first server that answers or, if servers are not queried, their
// URIs as locations. If lookupErr is not nil, it is returned.
func (w *walk) queryServers(
	ctx context.Context, m match, bases []string, lookupErr error,
) ([]resolver.Location, error) {
	if lookupErr != nil {
		return nil, lookupErr
	}
	if path, ok := w.reference(m); ok {
		var locations []resolver.Location
		for _, base := range bases {
			if len(locations)*len(path) > resolver.MaxAnswer {
				break // beyond the size limit of the caller
			}
			locations = append(locations, w.location(base+path))
		}
		return locations, nil
	}
	q := w.query
	q.Service = m.services.nearest(q.Service)
	answer, err := w.queryFunc.InOrder(ctx, bases, q)
	switch {
	case errors.As(err, new(*resolver.Negative)):
		return nil, &serverNegative{err}
	case err == nil && len(answer.Locations) > 0: // empty without servers
		w.limitTTL(answer.TTL, "the answer of the server")
	}
	return answer.Locations, err
}

// reference returns the path and query to append to the base URI of a server, and whether the answer is the
// resulting location rather than that of a query: the location of the resource, of the service I2L, or, without
// a path, of a server with another protocol.
func (w *walk) reference(m match) (string, bool) {
	requested := "?" + w.aus + w.query.ResolutionParams
	switch {
	case m.rank() > 0:
		return "", true
	case m.services.leadsToResource(w.query.Service):
		q := w.query
		q.Service = resolver.I2R
		return "/uri-res/" + resolver.THTTPName(q) + requested, true
	default:
		return "/uri-res/" + resolver.THTTPName(w.query) + requested, w.queryFunc == nil
	}
}

// serverNegative is the negative answer of a server: a final answer, not a failure.
type serverNegative struct{ error }

func (s *serverNegative) Unwrap() error { return s.error }

// limitNegative limits the TTL of a server's negative answer to that of the records used.
func (w *walk) limitNegative(err error) error {
	var n *resolver.Negative
	if !errors.As(err, &n) {
		return err
	}
	w.limitTTL(n.TTL, "the answer of the server")
	return &serverNegative{n.WithTTL(w.ttl, n.Cache)}
}

// bases returns the base URIs of the servers of a rule, in the order of queries. The flag P leaves the next
// step to the protocol (RFC 3404 section 4.3); for all supported protocols that is an address lookup, as for A.
func (w *walk) bases(ctx context.Context, m match) ([]string, error) {
	p, _ := lookupProtocol(m.services.protocol)
	if m.flag != 'S' {
		return []string{p.scheme + "://" + strings.TrimSuffix(m.key, ".")}, nil
	}
	servers, info, err := w.lookup.SRV(ctx, m.key)
	if err != nil {
		return nil, err
	}
	w.dependOn(info, m.key+" "+srvType)
	var bases []string
	for _, server := range inOrder(servers) {
		bases = append(bases, p.scheme+"://"+strings.TrimSuffix(server.Target, ".")+":"+strconv.Itoa(int(server.Port)))
	}
	return bases, nil
}

// maxSRV limits the servers of one record set that are used; real sets have a few.
const maxSRV = 100

// inOrder returns servers by priority, and those of equal priority in a random order by weight (RFC 2782). The
// target "." means that the service is not available; a target that is no host name is skipped.
func inOrder(servers []SRV) []SRV {
	left := slices.DeleteFunc(slices.Clone(servers), func(s SRV) bool {
		_, err := domainName(s.Target)
		return err != nil
	})
	slices.SortStableFunc(left, func(a, b SRV) int { return int(a.Priority) - int(b.Priority) })
	left = left[:min(len(left), maxSRV)]
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

// pick returns the index of a random server, with a probability in proportion to its weight.
func pick(servers []SRV) int {
	total := 0
	for _, s := range servers {
		total += s.share()
	}
	n := rand.IntN(total) //nolint:gosec // for load balancing, not security
	for i, s := range servers {
		if n -= s.share(); n < 0 {
			return i
		}
	}
	return 0
}

// share returns the weight times 100, so that weight 0 can have a very small probability, as RFC 2782 requires,
// without changing the proportion of other weights.
func (s SRV) share() int { return max(100*int(s.Weight), 1) }
