package httpcache_test

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// decided are the request fields with which Find defers to Serve.
var decided = [...]string{"Authorization", "Cache-Control", "If-Match", "If-Unmodified-Since", "Pragma"}

// first is the result of Find for a request, before Serve.
type first struct {
	got
	stored     httpcache.Found
	expected   bool // Find must return a hit
	found      bool
	unmodified bool
	part       httpcache.Part
}

// find looks up the stored response for a request with Find, and reads it.
func (s *site) find(r *httpcache.Request) first {
	if r.Method != "GET" && r.Method != "HEAD" || r.Body != nil || r.Bypass {
		return first{}
	}
	for _, name := range decided {
		if r.Fields.Has(name) {
			return first{}
		}
	}
	f := first{expected: s.cache.InMemory(r.Key) && !s.cache.Purging()}
	f.stored, f.found = s.cache.Find(r.Key, r.Spelling, r.Fields.Values, s.clock.now())
	if !f.found || r.Check != nil && r.Check(f.stored.ServerAddr()) != nil {
		f.found = false
		return f
	}
	if f.unmodified = f.stored.NotModified(r.Fields.Values); f.unmodified || r.Method == "HEAD" {
		return f
	}
	part, ok := f.stored.Part(r.Method, r.Fields.Values)
	if !ok || part.Status != 0 {
		f.part, f.found, f.expected = part, ok, false
		f.readPart()
		return f
	}
	content, ok := f.stored.Open(s.t.Context())
	if f.found = ok; !ok {
		return f
	}
	f.got = read(&httpcache.Response{Content: content})
	if blocks, ok := f.stored.Blocks(); ok {
		var b strings.Builder
		for _, block := range blocks {
			b.Write(block)
		}
		if b.String() != f.body {
			s.t.Errorf("%s: the blocks have %d bytes, the content %d", r.Key, b.Len(), len(f.body))
		}
	}
	return f
}

// readPart reads the requested part of the content, if it is in memory.
func (f *first) readPart() {
	if f.part.Status != http.StatusPartialContent {
		return
	}
	var blocks [][]byte
	blocks, f.found = f.stored.AppendBlocks(nil, f.part)
	f.body = string(bytes.Join(blocks, nil))
}

// compare compares the result of Find with the answer of Serve at the same time. So every test of the cache
// also tests Find.
func (s *site) compare(r *httpcache.Request, f first, g got) {
	s.t.Helper()
	if !f.found {
		if f.expected && g.err == nil && isWholeHit(g) && g.Outcome.Detail != "shared" {
			s.t.Errorf("%s %s is a hit that was not found: %d, %s", r.Method, r.Key, g.Status, g.Outcome.Status("urnd"))
		}
		return
	}
	if g.err != nil {
		s.t.Errorf("%s %s was found, and fails: %v", r.Method, r.Key, g.err)
		return
	}
	status, reason, length := f.stored.Status(), f.stored.Reason(), f.stored.Length()
	age := httpmessage.Field{Name: "Age", Value: strconv.Itoa(int(f.stored.Age() / time.Second))}
	header, added := f.stored.AppendFields(nil, f.part, f.unmodified), httpmessage.Fields{age}
	contentRange := httpmessage.Field{Name: "Content-Range", Value: string(f.stored.AppendContentRange(nil, f.part))}
	switch {
	case f.unmodified:
		status, reason, length = 304, "", -1
	case f.part.Status == http.StatusPartialContent:
		status, reason, length, added = 206, "", f.part.Length(), httpmessage.Fields{age, contentRange}
	case f.part.Status != 0:
		status, reason, length, added = 416, "", 0, httpmessage.Fields{contentRange}
	}
	if g.Status != status || g.Reason != reason || g.ContentLength != length || g.body != f.body || g.broken != nil ||
		f.broken != nil {
		s.t.Errorf("%s %s was found as %d %q %q (%d) %v, and is %d %q %q (%d) %v", r.Method, r.Key, status, reason,
			f.body, length, f.broken,
			g.Status, g.Reason, g.body, g.ContentLength, g.broken)
	}
	if !slices.Equal(g.Fields, header) {
		s.t.Errorf("%s %s was found with %q, and has %q", r.Method, r.Key, header, g.Fields)
	}
	outcome := httpcache.Outcome{TTL: f.stored.TTL(), HasTTL: true}
	if g.Outcome != outcome || !slices.Equal(g.Added, added) {
		s.t.Errorf("%s %s was found with %+v, %v, and has %+v, %v", r.Method, r.Key, outcome, added, g.Outcome, g.Added)
	}
}

// isWholeHit reports whether an answer is a fresh and complete response from the cache.
func isWholeHit(g got) bool {
	whole := g.Status != 204 && g.Status != 206 && g.Status != 416 && (g.ContentLength >= 0 || g.Status == 304)
	return g.Outcome.Hit() && !g.Outcome.Stale && whole
}
