package httpcache

import (
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// use is what may be done with a stored response for a request: RFC 9111 section 4.
type use uint8

const (
	validate       use = iota // it must be validated
	useFresh                  // it may be used
	useStale                  // it may be used although it is stale
	useRevalidate             // likewise, while it is validated: RFC 5861 section 3
	reloadRequired            // the client wants another one, from the origin
)

// demands are the directives of a request: RFC 9111 section 5.2.1.
type demands struct {
	noStore, noCache, onlyIfCached bool
	maxAge, minFresh, maxStale     time.Duration
	hasMaxAge                      bool
	ifError                        time.Duration // RFC 5861 section 4
}

// forever is the argument of max-stale without one.
const forever = 1<<31*time.Second - 1

// demandsOf parses the directives of a request. Pragma counts where there is no Cache-Control:
// RFC 9111 section 5.4.
func demandsOf(header httpmessage.Fields) (demands, cachecontrol.Directives) {
	lines := header.Lines("Cache-Control")
	if len(lines) == 0 {
		if pragma := header.Lines("Pragma"); len(pragma) > 0 && cachecontrol.Parse(pragma).Has("no-cache") {
			return demands{noCache: true}, nil
		}
		return demands{}, nil
	}
	d := cachecontrol.Parse(lines)
	all := demands{noStore: d.Has("no-store"), noCache: d.Has("no-cache"), onlyIfCached: d.Has("only-if-cached")}
	all.maxAge, all.hasMaxAge = d.Seconds("max-age")
	all.minFresh, _ = d.Seconds("min-fresh")
	all.ifError, _ = d.Seconds("stale-if-error")
	for _, one := range d {
		if one.Name == "max-stale" {
			all.maxStale = forever
			if one.HasArgument {
				all.maxStale = cachecontrol.DeltaSeconds(one.Argument)
			}
		}
	}
	return all, d
}

// useOf returns what may be done with a stored response.
func (s *response) useOf(d demands, now time.Time) use {
	age := s.age(now)
	ttl := s.lifetime - age
	switch {
	case s.purged || s.noCache:
		return validate
	case d.noCache, s.isTooOld(d, age, ttl), d.minFresh > 0 && ttl < d.minFresh:
		return reloadRequired
	case ttl > 0:
		return useFresh
	case s.mustRevalidate:
		return validate
	case d.maxStale > 0 && -ttl <= d.maxStale:
		return useStale
	case s.whileRevalidate > 0 && -ttl <= s.whileRevalidate:
		return useRevalidate
	default:
		return validate
	}
}

// isTooOld reports whether a response is older than the client wants: RFC 9111 section 5.2.1.1. That
// is not so of one that never changes, while it is fresh: RFC 8246 section 2.
func (s *response) isTooOld(d demands, age, ttl time.Duration) bool {
	if !d.hasMaxAge || age <= d.maxAge && d.maxAge > 0 || s.immutable && ttl > 0 {
		return false
	}
	return d.maxStale == 0 || age-d.maxAge > d.maxStale || s.mustRevalidate
}

// mayUseOnError reports whether a stored response may be used although the origin failed: as long as
// stale-if-error says (RFC 5861 section 4), or else up to staleFor (RFC 9111 sections 4.2.4 and
// 4.3.3).
func (s *response) mayUseOnError(d demands, now time.Time, staleFor time.Duration) bool {
	if s.mustRevalidate || s.purged || d.noCache {
		return false
	}
	if s.ifError >= 0 {
		staleFor = s.ifError
	}
	return -s.ttl(now) <= max(staleFor, d.ifError)
}

// mayUseMeanwhile reports whether a stale response may be used while it is being validated, up to staleFor,
// or what stale-if-error allows where that is less.
func (s *response) mayUseMeanwhile(d demands, now time.Time, staleFor time.Duration) bool {
	if s.noCache || s.useOf(d, now) != validate {
		return false // the client wants another one
	}
	if s.ifError >= 0 {
		staleFor = min(staleFor, s.ifError)
	}
	return s.mayUseOnError(d, now, staleFor) && -s.ttl(now) <= staleFor
}
