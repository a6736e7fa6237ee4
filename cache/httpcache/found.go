package httpcache

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Found is what Find has found for a key: where it reports so, a stored response that answers a request as it is, without
// the origin, as it is complete and fresh. It is a small value, whose methods are safe for concurrent use; the zero value
// was not looked up.
type Found struct {
	cache    *Cache
	entry    *Entry // nil for nothing
	changes  uint64 // storage.changes before that was looked up
	response *stored
	age, ttl time.Duration
	interval uint32 // of the request
}

// Find looks up a key, and returns the stored response that Serve would answer a request with at a time of Config.Now,
// and false where Serve has to decide: it is given what was found, and does not look it up again. The request is a GET or
// HEAD without content, and without the fields Authorization, Cache-Control, If-Match, If-Unmodified-Since and Pragma; its
// method, conditions and ranges are for the caller, and so is Request.Check: see From, IsUnmodified and Part. It waits for
// the disk alone, where memory has nothing. The fields of the request are read only where they select one of several
// responses. The key, and Request.Spelling, are not retained.
//
// It changes and counts nothing: see Used.
func (c *Cache) Find(key, spelling string, request httpmessage.Lines, now time.Time) (Found, bool) {
	f := Found{cache: c, changes: c.storage.changes.Load()}
	f.entry = c.storage.get(key)
	if f.entry == nil || len(c.purges.all()) > 0 { // a purge may be about it
		return f, false
	}
	s := rules.Select(f.entry.variants, spelling, request)
	if s == nil || !s.whole() || s.UseFor(rules.RequestDirectives{}, now) != rules.UseFresh {
		return f, false
	}
	f.response, f.age, f.interval = s, s.Age(now), intervalOf(now)
	f.ttl = s.Lifetime - f.age
	return f, true
}

// current reports whether f is what a cache has still, and was looked up.
func (f Found) current(c *Cache) bool { return f.cache == c && f.changes == c.storage.changes.Load() }

// SelectedBy reports whether a field of requests that matches selects among what is stored for the key. Its name is in
// the spelling of net/http.
func (f Found) SelectedBy(matches func(name string) bool) bool {
	for _, v := range f.entry.variants {
		for i := range v.Selectors {
			if matches(v.Selectors[i].Name) {
				return true
			}
		}
	}
	return false
}

// Status returns the status of the response, which is neither 204, 206 nor 304.
func (f Found) Status() int { return f.response.Status }

// Reason returns the reason phrase as the origin has sent it, which may be "".
func (f Found) Reason() string { return f.response.Reason }

// From returns the address that the response came from, the zero value where none is known.
func (f Found) From() netip.AddrPort { return f.response.From }

// Length returns the length of the content, in bytes.
func (f Found) Length() int64 { return f.response.Length }

// Age returns the age of the response, and TTL how long it is still fresh, which is more than 0.
func (f Found) Age() time.Duration { return f.age }

// TTL is described with Age.
func (f Found) TTL() time.Duration { return f.ttl }

// IsUnmodified reports whether the answer to a request is 304 by its If-None-Match or If-Modified-Since: RFC
// 9110 section 13.2.2.
func (f Found) IsUnmodified(request httpmessage.Lines) bool { return f.response.Unmodified(request) }

// AppendFields appends the fields of the answer to dst, without Age and Content-Range: all, those of a 304, or those of a Part.
func (f Found) AppendFields(dst httpmessage.Fields, part Part, unmodified bool) httpmessage.Fields {
	header := f.response.Sent(false)
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
func (f Found) Blocks() (content [][]byte, ok bool) {
	return body.BlocksIn(f.response.content)
}

// Open opens the content, also one that is on disk. It returns false where the disk has lost it: Serve has to
// answer then, and does so without it.
func (f Found) Open(ctx context.Context) (body.Content, bool) {
	content, err := f.cache.storage.open(ctx, f.response, rules.Span{Start: 0, End: -1})
	if err == nil {
		return content, true
	}
	if file, ok := f.response.content.(body.File); ok {
		f.cache.storage.forgetLost(file.Object.Key())
	}
	return nil, false
}

// Used counts the answer as a hit. It is called once, when the answer is sent.
func (f Found) Used() {
	f.cache.counts.hits.Add(1)
	f.response.uses.add(f.interval)
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
func (f Found) Part(method string, request httpmessage.Lines) (part Part, ok bool) {
	s := f.response
	if s.Status != http.StatusOK || !s.RangeApplies(request.Value(rules.IfRange)) {
		return Part{}, true
	}
	var one [1]rules.Span
	switch requested := rules.ParseRanges(one[:0], method, request("Range"), s.Length); {
	case requested.Unsatisfiable:
		return Part{Status: http.StatusRequestedRangeNotSatisfiable}, true
	case len(requested.Spans) == 0:
		return Part{}, true
	case len(requested.Spans) > 1, s.Fields.Has("Content-Range"):
		return Part{}, false
	default:
		return Part{http.StatusPartialContent, requested.Spans[0]}, true
	}
}

// AppendBlocks appends a Part with status 206 of the content to dst, which must not be changed; false where it is not
// in memory.
func (f Found) AppendBlocks(dst [][]byte, p Part) (content [][]byte, ok bool) {
	all, ok := body.BlocksIn(f.response.content)
	return all.AppendPart(dst, p.span), ok
}

// AppendContentRange appends the value of Content-Range in the answer that has a Part: RFC 9110 section 14.4.
func (f Found) AppendContentRange(dst []byte, p Part) []byte {
	if p.Status == http.StatusRequestedRangeNotSatisfiable {
		return rules.AppendUnsatisfiedRange(dst, f.response.Length)
	}
	return rules.AppendContentRange(dst, p.span, f.response.Length)
}
