package message

import (
	"strconv"
	"time"

	"github.com/urnd/urnd/resolver"
)

// Redirect returns the reply that redirects a client to one location of an answer. vary is the Vary field of
// the choice of the location.
func Redirect(status int, location, vary string, answer resolver.Answer) Reply {
	var buf [96]byte
	text := appendCacheStatus(buf[:0], answer.Cache, answer.TTL)
	split := len(text)
	fields := string(appendCacheControl(text, answer.Lifetime())) // one allocation for two fields
	return Reply{
		Status: status, Location: location, Vary: vary,
		CacheStatus: fields[:split], CacheControl: fields[split:], Cache: answer.Cache, Record: answer.Record(),
		Shared: answer.SharedLifetime(),
	}
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
