package httpcache

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Ready is a stored response that answers a request as it is, without the origin: it is complete and fresh. It
// is a small value, whose methods are safe for concurrent use; the zero value is none.
type Ready struct {
	cache    *Cache
	response *stored
	age, ttl time.Duration
	interval uint32 // of the request
}

// Ready returns the stored response that Serve would answer a request with at a time of Config.Now, and false
// where Serve has to decide. The request is a GET or HEAD without content, and without the fields Authorization,
// Cache-Control, If-Match, If-Unmodified-Since and Pragma; its method, conditions and ranges are for the caller,
// and so is Request.Check: see From, IsUnmodified and Part. Only what is in memory is looked at, of which the content
// may be on disk: see Load. The fields of the request are asked for only where they select one of several responses. The
// key, and Request.Spelling, are not retained.
//
// It changes and counts nothing: see Used.
func (c *Cache) Ready(key, spelling string, request httpmessage.Lines, now time.Time) (Ready, bool) {
	if c.config.Store == nil {
		return Ready{}, false
	}
	e := c.peek(key)
	if e == nil || len(c.announced()) > 0 { // a purge may be about it
		return Ready{}, false
	}
	s := selectOf(e.variants, spelling, request)
	if s == nil || !s.isWhole() || s.useOf(demands{}, now) != useFresh {
		return Ready{}, false
	}
	age := s.age(now)
	return Ready{cache: c, response: s, age: age, ttl: s.lifetime - age, interval: intervalOf(now)}, true
}

// Load brings what the disk alone has for a key into memory, where Ready finds it, and reports whether there was something. The key is
// not retained.
func (c *Cache) Load(key string) bool {
	if c.config.Store == nil || c.config.Disk == nil || c.peek(key) != nil {
		return false
	}
	return c.entry(strings.Clone(key)) != nil
}

// isWhole reports whether the whole response is stored, with a content and its length.
func (s *stored) isWhole() bool {
	switch s.status {
	case http.StatusNoContent, http.StatusPartialContent, http.StatusNotModified:
		return false
	}
	return s.length >= 0 && s.content != nil && s.isComplete()
}

// Status returns the status of the response, which is neither 204, 206 nor 304.
func (r Ready) Status() int { return r.response.status }

// Reason returns the words of the status as the origin has sent them, which may be "".
func (r Ready) Reason() string { return r.response.reason }

// From returns the address that the response came from, the zero value where none is known.
func (r Ready) From() netip.AddrPort { return r.response.from }

// Length returns the length of the content, in octets.
func (r Ready) Length() int64 { return r.response.length }

// Age returns the age of the response, and TTL how long it is still fresh, which is more than 0.
func (r Ready) Age() time.Duration { return r.age }

// TTL is described with Age.
func (r Ready) TTL() time.Duration { return r.ttl }

// IsUnmodified reports whether the answer to a request is 304 by its If-None-Match or If-Modified-Since: RFC
// 9110 section 13.2.2.
func (r Ready) IsUnmodified(request httpmessage.Lines) bool { return r.response.isUnmodified(request) }

// Fields returns the fields of the answer, without Age, or those of a 304. They are shared, and must not be changed.
func (r Ready) Fields(isUnmodified bool) httpmessage.Fields {
	header := r.response.fields(false)
	if isUnmodified {
		return notModified(header)
	}
	return header
}

// ContentType returns the first line of Content-Type in Fields(false), "" for none.
func (r Ready) ContentType() string {
	const name = "Content-Type"
	if r.response.validatedOnly != nil && slices.ContainsFunc(*r.response.validatedOnly, httpmessage.Field{Name: name}.Is) {
		return ""
	}
	return r.response.header.Value(name)
}

// Blocks returns the content, which may be empty and must not be changed, and false where it is not in memory.
func (r Ready) Blocks() (content [][]byte, ok bool) {
	return blocksIn(r.response.content)
}

// Open opens the content, also one that is on disk. It returns false where the disk has lost it: Serve has to
// answer then, and does so without it.
func (r Ready) Open(ctx context.Context) (Content, bool) {
	content, err := r.cache.open(ctx, r.response, span{0, -1})
	if err == nil {
		return content, true
	}
	if f, ok := r.response.content.(fileContent); ok {
		r.cache.forgetLost(f.object.Key())
	}
	return nil, false
}

// Used counts the answer as a hit. It is called once, when the answer is sent.
func (r Ready) Used() {
	r.cache.counts.hits.Add(1)
	r.response.uses.add(r.interval)
}

// Stored returns the stored fields, of which Fields(false) may leave some out. They are shared, and must not be changed.
func (r Ready) Stored() httpmessage.Fields { return r.response.header }

// StoredLines returns the lines of some of the stored fields as HTTP/1.1 has them, with their ends: "Name: value\r\n". They are those
// from the first to the last one in the order of their names, as they are spelled, and of these in the order in which they came.
// The names must not be "", unless it is one line, and the last one must not be before the first.
func (r Ready) StoredLines(first, last int) string {
	return linesOf(r.response.header[first], r.response.header[last])
}

// Memo is what a caller has made of a stored response. It is immutable.
type Memo struct {
	Owner any // who has made it
	Text  string
}

// Memo returns what SetMemo has set last for the stored response, nil for nothing.
func (r Ready) Memo() *Memo { return r.response.memo.Load() }

// SetMemo keeps with the stored response what the caller makes of it, in place of what was there. A changed
// response has none. One that takes more memory than is counted for it is not kept: see memoSize.
func (r Ready) SetMemo(memo *Memo) {
	if len(memo.Text) <= memoSize(r.response.header) {
		r.response.memo.Store(memo)
	}
}
