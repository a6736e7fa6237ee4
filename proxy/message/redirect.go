package proxy

import (
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/resolver"
)

// redirectStatus is 302, but 303 where RFC 2169 section 3.1 asks for it: by
// THTTP, of a client that knows HTTP/1.1.
func redirectStatus(f form, http11 bool) int {
	if f == formTHTTP && http11 {
		return http.StatusSeeOther
	}
	return http.StatusFound
}

// noContent is the Content-Length of a redirect. It is shared by all responses
// and never written to.
var noContent = []string{"0"}

// writeRedirect sends a client to one location of an answer. It is the
// path of every cached answer: two allocations.
func writeRedirect(w http.ResponseWriter, status int, location string, answer resolver.Answer) {
	var buf [96]byte
	text := appendCacheStatus(buf[:0], answer.Cache, answer.TTL)
	split := len(text)
	text = appendCacheControl(text, answer.TTL)
	fields := string(text)
	values := [...]string{location, fields[:split], fields[split:]}
	header := w.Header()
	header["Location"] = values[0:1:1]
	header["Cache-Status"] = values[1:2:2]
	header["Cache-Control"] = values[2:3:3]
	header["Content-Length"] = noContent
	w.WriteHeader(status)
}

// appendCacheStatus writes the field of RFC 9211.
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

// appendCacheControl lets caches on the way keep a redirect for as long as it
// rests on fresh records (RFC 9111 section 5.2.2.1).
func appendCacheControl(dst []byte, ttl time.Duration) []byte {
	dst = append(dst, "max-age="...)
	return strconv.AppendInt(dst, max(seconds(ttl), 0), 10)
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
