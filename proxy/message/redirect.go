package message

import (
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/resolver"
)

// Redirect returns the reply that sends a client to one location of an answer. It is
// 302, but 303 where RFC 2169 section 3.1 asks for it: by THTTP, to a client that speaks
// HTTP/1.1. vary names the fields of the request that decided on the location.
func Redirect(form Form, http11 bool, location, vary string, answer resolver.Answer) Reply {
	var buf [96]byte
	text := appendCacheStatus(buf[:0], answer.Cache, answer.TTL)
	split := len(text)
	fields := string(appendCacheControl(text, answer.TTL)) // one allocation for two fields
	r := Reply{
		Status: http.StatusFound, Location: location, Vary: vary,
		CacheStatus: fields[:split], CacheControl: fields[split:], Cache: answer.Cache,
	}
	if form == FormTHTTP && http11 {
		r.Status = http.StatusSeeOther
	}
	return r
}

// CacheStatus returns the field of RFC 9211.
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

// MaxAge returns the Cache-Control of what may be stored for ttl.
func MaxAge(ttl time.Duration) string { return string(appendCacheControl(nil, ttl)) }

// appendCacheControl lets caches on the way store a reply as long as the records that it
// was made of are fresh (RFC 9111 section 5.2.2.1).
func appendCacheControl(dst []byte, ttl time.Duration) []byte {
	dst = append(dst, "max-age="...)
	return strconv.AppendInt(dst, max(seconds(ttl), 0), 10)
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
