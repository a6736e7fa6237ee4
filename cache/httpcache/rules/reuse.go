package rules

import (
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Use is how a stored response may be used for a request: RFC 9111 section 4.
type Use uint8

const (
	MustValidate         Use = iota // it must be validated
	UseFresh                        // it may be used
	UseStale                        // it may be used although stale
	UseWhileRevalidating            // it may be used although stale, during validation: RFC 5861 section 3
	MustReload                      // the client requires a response from the origin
)

// RequestDirectives are the directives of a request: RFC 9111 section 5.2.1.
type RequestDirectives struct {
	NoStore, NoCache, OnlyIfCached bool
	MaxAge, minFresh, maxStale     time.Duration
	HasMaxAge                      bool
	ifError                        time.Duration // RFC 5861 section 4
}

// forever is the value of max-stale without an argument.
const forever = 1<<31*time.Second - 1

// ParseRequest parses the directives of a request. Pragma applies if there is no Cache-Control: RFC 9111
// section 5.4.
func ParseRequest(header httpmessage.Fields) RequestDirectives {
	lines := header.Values("Cache-Control")
	if len(lines) == 0 {
		if pragma := header.Values("Pragma"); len(pragma) > 0 && cachecontrol.Parse(pragma).Has("no-cache") {
			return RequestDirectives{NoCache: true}
		}
		return RequestDirectives{}
	}
	d := cachecontrol.Parse(lines)
	all := RequestDirectives{
		NoStore: d.Has("no-store"), NoCache: d.Has("no-cache"), OnlyIfCached: d.Has("only-if-cached"),
	}
	all.MaxAge, all.HasMaxAge = d.Seconds("max-age")
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
	return all
}

// UseFor returns how a stored response may be used for a request with these directives.
func (s *Response) UseFor(d RequestDirectives, now time.Time) Use {
	age := s.Age(now)
	ttl := s.Lifetime - age
	switch {
	case s.Purged || s.NoCache:
		return MustValidate
	case d.NoCache, s.tooOld(d, age, ttl), d.minFresh > 0 && ttl < d.minFresh:
		return MustReload
	case ttl > 0:
		return UseFresh
	case s.MustRevalidate:
		return MustValidate
	case d.maxStale > 0 && -ttl <= d.maxStale:
		return UseStale
	case s.WhileRevalidate > 0 && -ttl <= s.WhileRevalidate:
		return UseWhileRevalidating
	default:
		return MustValidate
	}
}

// tooOld reports whether a response is older than the client accepts: RFC 9111 section 5.2.1.1. An immutable
// response is not too old while it is fresh: RFC 8246 section 2.
func (s *Response) tooOld(d RequestDirectives, age, ttl time.Duration) bool {
	if !d.HasMaxAge || age <= d.MaxAge && d.MaxAge > 0 || s.Immutable && ttl > 0 {
		return false
	}
	return d.maxStale == 0 || age-d.MaxAge > d.maxStale || s.MustRevalidate
}

// UsableOnError reports whether a stored response may be used after a failure of the origin: within
// stale-if-error (RFC 5861 section 4), otherwise up to staleFor (RFC 9111 sections 4.2.4 and 4.3.3).
func (s *Response) UsableOnError(d RequestDirectives, now time.Time, staleFor time.Duration) bool {
	if s.MustRevalidate || s.Purged || d.NoCache {
		return false
	}
	if s.IfError >= 0 {
		staleFor = s.IfError
	}
	return -s.TTL(now) <= max(staleFor, d.ifError)
}

// UsableWhileRevalidating reports whether a stale response may be used during validation, up to the lesser of staleFor
// and stale-if-error.
func (s *Response) UsableWhileRevalidating(d RequestDirectives, now time.Time, staleFor time.Duration) bool {
	if s.NoCache || s.UseFor(d, now) != MustValidate {
		return false // no-cache, or the client requires another response
	}
	if s.IfError >= 0 {
		staleFor = min(staleFor, s.IfError)
	}
	return s.UsableOnError(d, now, staleFor) && -s.TTL(now) <= staleFor
}
