package httpcache

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Ready is a stored response that answers a request as it is, without the origin: it is complete and fresh. It
// is a small value, whose methods are safe for concurrent use; the zero value is none.
type Ready struct {
	cache    *Cache
	entry    *Entry
	response *stored
	age, ttl time.Duration
	interval uint32 // of the request
}

// Ready returns the stored response that Serve would answer a request with at a time of Config.Now, and false where
// Serve has to decide. The request is a GET or HEAD without content, and without the fields Authorization,
// Cache-Control, If-Match, If-Unmodified-Since and Pragma; its method, conditions and ranges are for the caller, and so
// is Request.Check: see From, IsUnmodified and Part. Only what is in memory is looked at, of which the content may be
// on disk: see Load. The fields of the request are read only where they select one of several responses. The key,
// and Request.Spelling, are not retained.
//
// It changes and counts nothing: see Used.
func (c *Cache) Ready(key, spelling string, request httpmessage.Lines, now time.Time) (Ready, bool) {
	if c.config.Store == nil {
		return Ready{}, false
	}
	e := c.storage.peek(key)
	if e == nil || len(c.purges.all()) > 0 { // a purge may be about it
		return Ready{}, false
	}
	s := rules.Select(e.variants, spelling, request)
	if s == nil || !s.whole() || s.UseFor(rules.RequestDirectives{}, now) != rules.UseFresh {
		return Ready{}, false
	}
	age := s.Age(now)
	return Ready{cache: c, entry: e, response: s, age: age, ttl: s.Lifetime - age, interval: intervalOf(now)}, true
}

// SelectedBy reports whether a field of requests that matches selects among what is stored for the key. Its name is in
// the spelling of net/http.
func (r Ready) SelectedBy(matches func(name string) bool) bool {
	for _, v := range r.entry.variants {
		for i := range v.Selectors {
			if matches(v.Selectors[i].Name) {
				return true
			}
		}
	}
	return false
}

// Load brings what the disk alone has for a key into memory, where Ready finds it, and reports whether there was
// something. The key is not retained.
func (c *Cache) Load(key string) bool {
	if c.config.Store == nil || c.config.Disk == nil || c.storage.peek(key) != nil {
		return false
	}
	return c.storage.get(strings.Clone(key)) != nil
}

// Status returns the status of the response, which is neither 204, 206 nor 304.
func (r Ready) Status() int { return r.response.Status }

// Reason returns the reason phrase as the origin has sent it, which may be "".
func (r Ready) Reason() string { return r.response.Reason }

// From returns the address that the response came from, the zero value where none is known.
func (r Ready) From() netip.AddrPort { return r.response.From }

// Length returns the length of the content, in bytes.
func (r Ready) Length() int64 { return r.response.Length }

// Age returns the age of the response, and TTL how long it is still fresh, which is more than 0.
func (r Ready) Age() time.Duration { return r.age }

// TTL is described with Age.
func (r Ready) TTL() time.Duration { return r.ttl }

// IsUnmodified reports whether the answer to a request is 304 by its If-None-Match or If-Modified-Since: RFC
// 9110 section 13.2.2.
func (r Ready) IsUnmodified(request httpmessage.Lines) bool { return r.response.Unmodified(request) }

// AppendFields appends the fields of the answer to dst, without Age and Content-Range: all, those of a 304, or those of a Part.
func (r Ready) AppendFields(dst httpmessage.Fields, part Part, unmodified bool) httpmessage.Fields {
	header := r.response.Sent(false)
	switch {
	case unmodified:
		return rules.AppendNotModified(dst, header)
	case part.Status == http.StatusRequestedRangeNotSatisfiable:
		return rules.AppendUnsatisfiable(dst, header)
	default:
		return append(dst, header...)
	}
}

// Blocks returns the content, which may be empty and must not be changed, and false where it is not in memory.
func (r Ready) Blocks() (content [][]byte, ok bool) {
	return body.BlocksIn(r.response.content)
}

// Open opens the content, also one that is on disk. It returns false where the disk has lost it: Serve has to
// answer then, and does so without it.
func (r Ready) Open(ctx context.Context) (body.Content, bool) {
	content, err := r.cache.storage.open(ctx, r.response, rules.Span{Start: 0, End: -1})
	if err == nil {
		return content, true
	}
	if f, ok := r.response.content.(body.File); ok {
		r.cache.storage.forgetLost(f.Object.Key())
	}
	return nil, false
}

// Used counts the answer as a hit. It is called once, when the answer is sent.
func (r Ready) Used() {
	r.cache.counts.hits.Add(1)
	r.response.uses.add(r.interval)
}

// Part is what the answer to a GET with a range has of the content of a stored response: RFC 9110 section 14.2. The
// zero value is all of it.
type Part struct {
	// Status is 206 (Partial Content), or 416 (Range Not Satisfiable) for nothing of it; 0 for all of it.
	Status int
	span   rules.Span
}

// Length returns the number of bytes of a Part with status 206.
func (p Part) Length() int64 { return p.span.Length() }

// Part returns what of the content answers a request by its fields Range and If-Range, where it is not unmodified;
// false where Serve has to decide: about several ranges, and about a response that is said to be a part itself.
func (r Ready) Part(method string, request httpmessage.Lines) (part Part, ok bool) {
	s, lines := r.response, request("Range")
	if len(lines) != 1 || method != http.MethodGet || s.Status != http.StatusOK ||
		!s.RangeApplies(request.Value(rules.IfRange)) {
		return Part{}, true
	}
	set, inBytes := rules.ParseByteRanges(lines[0])
	if !inBytes || set == "" {
		return Part{}, true
	}
	if strings.Contains(set, ",") || s.Fields.Has("Content-Range") {
		return Part{}, false
	}
	switch one, satisfiable, valid := rules.ParseRange(set, s.Length); {
	case !valid:
		return Part{}, true
	case !satisfiable:
		return Part{Status: http.StatusRequestedRangeNotSatisfiable}, true
	default:
		return Part{http.StatusPartialContent, one}, true
	}
}

// AppendBlocks appends a Part with status 206 of the content to dst, which must not be changed; false where it is not
// in memory.
func (r Ready) AppendBlocks(dst [][]byte, p Part) (content [][]byte, ok bool) {
	all, ok := body.BlocksIn(r.response.content)
	return all.AppendPart(dst, p.span), ok
}

// AppendContentRange appends the value of Content-Range in the answer that has a Part: RFC 9110 section 14.4.
func (r Ready) AppendContentRange(dst []byte, p Part) []byte {
	if p.Status == http.StatusRequestedRangeNotSatisfiable {
		return rules.AppendUnsatisfiedRange(dst, r.response.Length)
	}
	return rules.AppendContentRange(dst, p.span, r.response.Length)
}
