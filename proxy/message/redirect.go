package message

import (
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

// Redirect returns a reply that redirects to a location of an answer. vary is the Vary of the negotiation of
// the location. text is the buffer for field values: see httpmessage.ValueBuffer.
func Redirect(status int, location, vary string, answer resolver.Answer, text *httpmessage.ValueBuffer) Reply {
	start, dst := text.Begin()
	state := text.End(start, appendCacheStatus(dst, answer.Cache, answer.TTL))
	start, dst = text.Begin()
	control := text.End(start, appendCacheControl(dst, answer.Lifetime()))
	return Reply{
		Status: status, Location: location, Vary: vary,
		CacheStatus: state, CacheControl: control, Cache: answer.Cache, Record: answer.Record(),
		SharedMaxAge: answer.SharedLifetime(),
	}
}

// SetFreshness updates the freshness of a pre-rendered reply on a cache hit: ttl is that of its answer, lifetime
// applies to clients, and shared to caches that are purged on changes.
func (r *Reply) SetFreshness(ttl, lifetime, shared time.Duration, text *httpmessage.ValueBuffer) {
	start, dst := text.Begin()
	r.CacheStatus = text.End(start, appendCacheStatus(dst, resolver.CacheHit, ttl))
	start, dst = text.Begin()
	r.CacheControl = text.End(start, appendCacheControl(dst, lifetime))
	r.Cache, r.SharedMaxAge = resolver.CacheHit, shared
}

// CacheStatus returns the value of Cache-Status (RFC 9211).
func CacheStatus(state resolver.CacheState, ttl time.Duration) string {
	return string(appendCacheStatus(nil, state, ttl))
}

func appendCacheStatus(dst []byte, state resolver.CacheState, ttl time.Duration) []byte {
	dst = append(dst, "urnd"...)
	switch state {
	case resolver.CacheHit:
		dst = append(dst, "; hit"...)
	case resolver.CacheStale:
		dst = append(dst, "; hit; detail=stale-on-error"...)
	case resolver.CacheMiss:
		dst = append(dst, "; fwd=uri-miss"...)
	case resolver.CacheCollapsed:
		dst = append(dst, "; fwd=uri-miss; collapsed"...)
	default:
		return append(dst, "; fwd=bypass"...)
	}
	if state != resolver.CacheHit && state != resolver.CacheStale && ttl > 0 {
		dst = append(dst, "; stored"...)
	}
	dst = append(dst, "; ttl="...)
	return strconv.AppendInt(dst, seconds(ttl), 10)
}

// MaxAge returns the Cache-Control of a reply with the freshness lifetime ttl.
func MaxAge(ttl time.Duration) string { return string(appendCacheControl(nil, ttl)) }

// appendCacheControl lets caches store a reply as long as the records that it depends on are fresh (RFC 9111
// section 5.2.2.1). With ttl 0 it is no-store: the answer is for one request only, such as after a server's
// no-store.
func appendCacheControl(dst []byte, ttl time.Duration) []byte {
	if ttl == 0 {
		return append(dst, NoStore...)
	}
	dst = append(dst, maxAge...)
	return strconv.AppendInt(dst, max(seconds(ttl), 0), 10)
}

// maxAge is the start of the Cache-Control of all replies that may be stored.
const maxAge = "max-age="

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
