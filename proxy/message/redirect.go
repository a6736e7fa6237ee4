package message

import (
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

// Redirect returns the reply that redirects a client to one location of an answer. vary is the Vary field of
// the choice of the location, and text where its values may be: see httpmessage.Text.
func Redirect(status int, location, vary string, answer resolver.Answer, text *httpmessage.Text) Reply {
	start, dst := text.Begin()
	state := text.End(start, appendCacheStatus(dst, answer.Cache, answer.TTL))
	start, dst = text.Begin()
	control := text.End(start, appendCacheControl(dst, answer.Lifetime()))
	return Reply{
		Status: status, Location: location, Vary: vary,
		CacheStatus: state, CacheControl: control, Cache: answer.Cache, Record: answer.Record(),
		Shared: answer.SharedLifetime(),
	}
}

// Fresh sets how long a reply that was rendered before may still be used: the TTL of its answer, which the cache had, and the lifetimes of
// that for clients and for caches that are told of changes.
func (r *Reply) Fresh(ttl, lifetime, shared time.Duration, text *httpmessage.Text) {
	start, dst := text.Begin()
	r.CacheStatus = text.End(start, appendCacheStatus(dst, resolver.CacheHit, ttl))
	start, dst = text.Begin()
	r.CacheControl = text.End(start, appendCacheControl(dst, lifetime))
	r.Cache, r.Shared = resolver.CacheHit, shared
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

// appendCacheControl lets shared caches store a reply as long as the records that it
// depends on are fresh (RFC 9111 section 5.2.2.1): not at all where they are for one request
// only, as when a server said no-store.
func appendCacheControl(dst []byte, ttl time.Duration) []byte {
	if ttl == 0 {
		return append(dst, NoStore...)
	}
	dst = append(dst, maxAge...)
	return strconv.AppendInt(dst, max(seconds(ttl), 0), 10)
}

// maxAge begins the Cache-Control of all replies that may be stored.
const maxAge = "max-age="

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
