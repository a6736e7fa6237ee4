package message

import (
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// Tags is the header field with the cache tags of a reply, by which caches in front of urnd, such as a CDN,
// identify what the reply is about: purging a tag there purges all replies with it. No standard defines it. The
// zero value sends none.
//
// The tags of a reply are one for everything, the namespace, prefixes of the canonical name, and the name
// itself, so that each purge needs only one tag. All but the first two are hashes, because names may have
// characters that a tag must not have, and may be longer than a CDN allows. Names with equal hashes are purged
// together, which is harmless.
type Tags string

// The supported fields. Xkey is that of a Varnish module; the others are those of CDNs.
const (
	CacheTag     Tags = "Cache-Tag"
	SurrogateKey Tags = "Surrogate-Key"
	Xkey         Tags = "Xkey"
)

// TagOfAll is the tag of all replies.
const TagOfAll = "urnd"

// maxBeginnings is the maximum number of prefixes of a name that are tags.
const maxBeginnings = 6

// fieldShared has the freshness lifetime for caches that are purged: RFC 9213 section 3.1.
const fieldShared = "CDN-Cache-Control"

// WithCacheTags returns a reply about a canonical name with the fields for caches in front of urnd, if the reply may
// be stored at all.
func (r Reply) WithCacheTags(tags Tags, name string) Reply {
	if tags == "" && r.SharedMaxAge == 0 || !strings.HasPrefix(r.CacheControl, maxAge) {
		return r
	}
	if tags != "" {
		r.Fields.Set(string(tags), string(tags.appendTo(nil, name)))
	}
	if r.SharedMaxAge > 0 {
		r.Fields.Set(fieldShared, MaxAge(r.SharedMaxAge))
	}
	return r
}

// Separator returns the separator of tags in the field.
func (t Tags) Separator() string {
	if t == CacheTag {
		return ","
	}
	return " "
}

// appendTo appends the tags of a canonical name. The name without its part from "?" is an additional tag,
// because a name of a web host may be registered without it.
func (t Tags) appendTo(dst []byte, name string) []byte {
	separator := t.Separator()
	dst = append(dst, TagOfAll...)
	begin := beginOf(name)
	if isURN(name) {
		dst = append(append(dst, separator...), name[:begin-1]...)
	}
	sum, beginnings := uint64(hashBasis), 0
	for i := range len(name) {
		c := name[i]
		if c == '?' {
			dst = appendHash(append(dst, separator...), sum)
		}
		sum = (sum ^ uint64(c)) * hashPrime
		if i >= begin && i < len(name)-1 && beginnings < maxBeginnings && isEnd(c) {
			dst = appendHash(append(dst, separator...), sum)
			beginnings++
		}
	}
	return appendHash(append(dst, separator...), sum)
}

// TagOf returns a tag that all replies about the names of a selection have. Other replies may have it too, if
// the selection is a prefix that ends within a component of names. A name in the selection must be canonical.
func TagOf(s resolver.Selection) string {
	switch {
	case s.Name.IsValid():
		sum := uint64(hashBasis)
		for _, c := range []byte(s.Name.String()) {
			sum = (sum ^ uint64(c)) * hashPrime
		}
		return string(appendHash(nil, sum))
	case s.Namespace != "":
		return "urn:" + s.Namespace
	case s.Prefix == "":
		return TagOfAll
	}
	begin, tag := beginOf(s.Prefix), TagOfAll
	switch {
	case isURN(s.Prefix):
		tag = s.Prefix[:begin-1]
	case begin == 0, strings.HasPrefix(s.Prefix, "urn:"): // the prefix ends within a scheme or a namespace
		return tag
	}
	sum, beginnings := uint64(hashBasis), 0
	for i := 0; i < len(s.Prefix) && s.Prefix[i] != '?'; i++ {
		sum = (sum ^ uint64(s.Prefix[i])) * hashPrime
		if i >= begin && beginnings < maxBeginnings && isEnd(s.Prefix[i]) {
			tag = string(appendHash(nil, sum))
			beginnings++
		}
	}
	return tag
}

// FNV-1a. It need not resist collisions: they give no advantage to an attacker.
const (
	hashBasis = 0xcbf29ce484222325
	hashPrime = 0x100000001b3
)

func appendHash(dst []byte, sum uint64) []byte {
	var byteCount [8]byte
	binary.BigEndian.PutUint64(byteCount[:], sum)
	return base64.RawURLEncoding.AppendEncode(dst, byteCount[:])
}

// isURN reports whether a name, or a prefix of one, has a complete namespace.
func isURN(name string) bool { return strings.HasPrefix(name, "urn:") && strings.Count(name, ":") > 1 }

// beginOf returns the minimum length of prefixes of a name that are tags: up to the end of its namespace, or of
// its scheme.
func beginOf(name string) int {
	if isURN(name) {
		const scheme = len("urn:")
		return scheme + strings.IndexByte(name[scheme:], ':') + 1
	}
	begin := strings.IndexByte(name, ':') + 1
	for range len("//") {
		if begin < len(name) && name[begin] == '/' {
			begin++
		}
	}
	return begin
}

// isEnd reports whether c ends a component of names.
func isEnd(c byte) bool { return c == ':' || c == '/' || c == '-' }
