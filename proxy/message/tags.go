package message

import (
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// Tags is the field by which caches in front of urnd, as those of a CDN, know what a reply is about: who purges a tag there purges all
// replies that have it. There is no standard for it. The zero value sends none.
//
// The tags of a reply are everything, the namespace, the beginnings of the canonical name, and the name itself, so that one tag is
// enough for each purge. All but the first two are hashes: names may have characters that a field for tags has not, and be longer
// than a CDN takes. Two with one hash are purged together, which does no harm.
type Tags string

// The fields. Xkey is that of a module of Varnish; the others are those of CDNs.
const (
	CacheTag     Tags = "Cache-Tag"
	SurrogateKey Tags = "Surrogate-Key"
	Xkey         Tags = "Xkey"
)

// TagOfAll is the tag that all replies have.
const TagOfAll = "urnd"

// maxBeginnings bounds the beginnings of a name that are tags.
const maxBeginnings = 6

// fieldShared has the lifetime for caches that are purged: RFC 9213 section 3.1.
const fieldShared = "CDN-Cache-Control"

// Marked returns a reply about a name, which is canonical, with the fields for caches in front of urnd, where they may store it at all.
func (r Reply) Marked(tags Tags, name string) Reply {
	if tags == "" && r.Shared == 0 || !strings.HasPrefix(r.CacheControl, maxAge) {
		return r
	}
	if tags != "" {
		r.Fields.Set(string(tags), string(tags.appendTo(nil, name)))
	}
	if r.Shared > 0 {
		r.Fields.Set(fieldShared, MaxAge(r.Shared))
	}
	return r
}

// Separator returns what is between two tags in the field.
func (t Tags) Separator() string {
	if t == CacheTag {
		return ","
	}
	return " "
}

// appendTo appends the tags of a canonical name. What follows "?" is tagged apart: a name of a web host may be registered without it.
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

// TagOf returns the tag that all replies about the names of a selection have, and others too where it is a prefix that ends within a
// part of names. A name in it must be canonical.
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
	case begin == 0, strings.HasPrefix(s.Prefix, "urn:"): // it ends within a scheme, or a namespace
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

// FNV-1a. Nobody gains by names that have one hash.
const (
	hashBasis = 0xcbf29ce484222325
	hashPrime = 0x100000001b3
)

func appendHash(dst []byte, sum uint64) []byte {
	var octets [8]byte
	binary.BigEndian.PutUint64(octets[:], sum)
	return base64.RawURLEncoding.AppendEncode(dst, octets[:])
}

// isURN reports whether a name, or a beginning of one, has a complete namespace.
func isURN(name string) bool { return strings.HasPrefix(name, "urn:") && strings.Count(name, ":") > 1 }

// beginOf returns where the beginnings of a name end at the earliest: behind its namespace, or its scheme.
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

// isEnd reports whether a part of names ends with c.
func isEnd(c byte) bool { return c == ':' || c == '/' || c == '-' }
