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

// Found is the result of Find for a key: if Find reports true, a complete and fresh stored response that
// answers a request without the origin. It is a small value, whose methods are safe for concurrent use; the
// zero value means that nothing was looked up.
type Found struct {
	cache    *Cache
	entry    *Entry // nil for nothing
	changes  uint64 // storage.changes before the lookup
	response *stored
	age, ttl time.Duration
	interval uint32 // of the lookup
}

// Find looks up a key, and returns the stored response that Serve would answer a request with at the time now,
// on the clock of Config.Now. It returns false if Serve has to decide; Serve reuses the Found and does not look
// it up again. The request must be a GET or HEAD without content, and without Authorization, Cache-Control,
// If-Match, If-Unmodified-Since and Pragma. The caller handles its method, conditions and ranges, and
// Request.Check: see From, NotModified and Part. Find waits only for the disk, if memory has no entry. It
// reads the fields of the request only if they select one of several responses. It does not retain the key or
// Request.Spelling.
//
// It changes no state and no counter: see Used.
func (c *Cache) Find(key, spelling string, request httpmessage.Header, now time.Time) (Found, bool) {
	f := Found{cache: c, changes: c.storage.changes.Load()}
	f.entry = c.storage.get(key)
	if f.entry == nil || len(c.purges.all()) > 0 { // a pending purge may select it
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

// current reports whether f was looked up in c, and c has not changed since.
func (f Found) current(c *Cache) bool { return f.cache == c && f.changes == c.storage.changes.Load() }

// SelectedBy reports whether a request field whose name matches selects among the responses of the key. Names
// are in the canonical form of net/http.
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

// Status returns the status code of the response, which is neither 204, 206 nor 304.
func (f Found) Status() int { return f.response.Status }

// Reason returns the reason phrase that the origin sent, which may be "".
func (f Found) Reason() string { return f.response.Reason }

// ServerAddr returns the address of the server that sent the response, the zero value if unknown.
func (f Found) ServerAddr() netip.AddrPort { return f.response.ServerAddr }

// Length returns the length of the content in bytes.
func (f Found) Length() int64 { return f.response.Length }

// Age returns the age of the response.
func (f Found) Age() time.Duration { return f.age }

// TTL returns how long the response is still fresh; it is positive.
func (f Found) TTL() time.Duration { return f.ttl }

// NotModified reports whether the answer to a request is 304 by its If-None-Match or If-Modified-Since: RFC
// 9110 section 13.2.2.
func (f Found) NotModified(request httpmessage.Header) bool { return f.response.Unmodified(request) }

// AppendFields appends the fields of the answer to dst, without Age and Content-Range: those of the whole response, of
// a 304, or of a Part.
func (f Found) AppendFields(dst httpmessage.Fields, part Part, unmodified bool) httpmessage.Fields {
	header := f.response.FieldsToSend(false)
	switch {
	case unmodified:
		return rules.AppendNotModified(dst, header)
	case part.Status == http.StatusRequestedRangeNotSatisfiable:
		return rules.AppendUnsatisfiable(dst, header)
	default:
		return append(dst, header...)
	}
}

// Blocks returns the content, which may be empty and must not be changed. It returns false if it is not in
// memory.
func (f Found) Blocks() (content [][]byte, ok bool) {
	return body.BlocksIn(f.response.content)
}

// Open opens the content, in memory or on disk. It returns false if the disk has lost it: then Serve has to
// answer, and does so without that response.
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

// CountHit counts the answer as a hit. Call it once, when the answer is sent.
func (f Found) CountHit() {
	f.cache.counts.hits.Add(1)
	f.response.uses.add(f.interval)
}

// Part is the part of a stored response that answers a GET with a range: RFC 9110 section 14.2. The zero value
// is the whole.
type Part struct {
	// Status is 206 (Partial Content), 416 (Range Not Satisfiable), or 0 for the whole.
	Status int
	span   rules.Span
}

// Length returns the number of bytes of a Part with status 206.
func (p Part) Length() int64 { return p.span.Length() }

// Part returns the part of the content selected by the Range and If-Range of a request that is not answered by
// 304. It returns false if Serve has to decide: for several ranges, and for a response with a Content-Range.
func (f Found) Part(method string, request httpmessage.Header) (part Part, ok bool) {
	s := f.response
	if s.Status != http.StatusOK || !s.RangeApplies(request.Get(rules.IfRange)) {
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

// AppendBlocks appends the blocks of a Part with status 206 to dst; they must not be changed. It returns false
// if the content is not in memory.
func (f Found) AppendBlocks(dst [][]byte, p Part) (content [][]byte, ok bool) {
	all, ok := body.BlocksIn(f.response.content)
	return all.AppendPart(dst, p.span), ok
}

// AppendContentRange appends the Content-Range value of the answer with a Part: RFC 9110 section 14.4.
func (f Found) AppendContentRange(dst []byte, p Part) []byte {
	if p.Status == http.StatusRequestedRangeNotSatisfiable {
		return rules.AppendUnsatisfiedRange(dst, f.response.Length)
	}
	return rules.AppendContentRange(dst, p.span, f.response.Length)
}
