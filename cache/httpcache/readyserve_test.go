package httpcache_test

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
)

// decided are the fields of requests that Serve has to decide.
var decided = [...]string{"Authorization", "Cache-Control", "If-Match", "If-Unmodified-Since", "Pragma", "Range"}

// first is what Ready answers a request with before Serve does.
type first struct {
	got
	ready      httpcache.Ready
	expected   bool // a hit would have to be ready
	found      bool
	unmodified bool
}

// ready asks for the response that is ready for a request, and reads it.
func (s *site) ready(r *httpcache.Request) first {
	if r.Method != "GET" && r.Method != "HEAD" || r.Body || r.Pass {
		return first{}
	}
	for _, name := range decided {
		if len(r.Header[name]) > 0 {
			return first{}
		}
	}
	f := first{expected: s.cache.InMemory(r.URI) && !s.cache.Purging()}
	lines := func(name string) []string { return r.Header[name] }
	f.ready, f.found = s.cache.Ready(r.URI, r.Spelling, lines, s.clock.now())
	if !f.found || r.Check != nil && r.Check(f.ready.From()) != nil {
		f.found = false
		return f
	}
	if f.unmodified = f.ready.IsUnmodified(lines); f.unmodified || r.Method == "HEAD" {
		return f
	}
	content, ok := f.ready.Open(s.t.Context())
	if f.found = ok; !ok {
		return f
	}
	f.got = read(&httpcache.Answer{Content: content})
	if blocks, ok := f.ready.Blocks(); ok {
		var b strings.Builder
		for _, block := range blocks {
			b.Write(block)
		}
		if b.String() != f.body {
			s.t.Errorf("%s: the blocks have %d octets, the content %d", r.URI, b.Len(), len(f.body))
		}
	}
	return f
}

// compare compares what Ready has answered with what Serve answers at the same time. So every test of the cache
// is one of Ready.
func (s *site) compare(r *httpcache.Request, f first, g got) {
	s.t.Helper()
	if !f.found {
		if f.expected && g.err == nil && isWholeHit(g) {
			s.t.Errorf("%s %s is a hit that was not ready: %d, %s", r.Method, r.URI, g.Status, g.Outcome.Status("urnd"))
		}
		return
	}
	if g.err != nil {
		s.t.Errorf("%s %s was ready, and fails: %v", r.Method, r.URI, g.err)
		return
	}
	status, reason, length := f.ready.Status(), f.ready.Reason(), f.ready.Length()
	if f.unmodified {
		status, reason, length = 304, "", -1
	}
	if g.Status != status || g.Reason != reason || g.ContentLength != length || g.body != f.body || g.broken != nil || f.broken != nil {
		s.t.Errorf("%s %s was ready as %d %q %q (%d) %v, and is %d %q %q (%d) %v", r.Method, r.URI, status, reason, f.body, length, f.broken,
			g.Status, g.Reason, g.body, g.ContentLength, g.broken)
	}
	if header := f.ready.Header(f.unmodified); !reflect.DeepEqual(g.Header, header) {
		s.t.Errorf("%s %s was ready with %q, and has %q", r.Method, r.URI, header, g.Header)
	}
	if !f.unmodified && f.ready.ContentType() != g.Header.Get("Content-Type") {
		s.t.Errorf("%s %s was ready as %q, and is %q", r.Method, r.URI, f.ready.ContentType(), g.Header.Get("Content-Type"))
	}
	outcome := httpcache.Outcome{TTL: f.ready.TTL(), HasTTL: true}
	age := httpcache.Field{Name: "Age", Value: strconv.Itoa(int(f.ready.Age() / time.Second))}
	if g.Outcome != outcome || len(g.Fields) != 1 || g.Fields[0] != age {
		s.t.Errorf("%s %s was ready with %+v, %v, and has %+v, %v", r.Method, r.URI, outcome, age, g.Outcome, g.Fields)
	}
}

// isWholeHit reports whether an answer is a fresh and whole response from the cache.
func isWholeHit(g got) bool {
	isWhole := g.Status != 204 && g.Status != 206 && (g.ContentLength >= 0 || g.Status == 304)
	return g.Outcome.Hit() && !g.Outcome.Stale && isWhole
}
