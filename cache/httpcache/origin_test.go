package httpcache_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// table is a store without eviction.
type table struct {
	mu      sync.Mutex
	entries map[string]*cache.Entry[*httpcache.Entry]
	isFull  bool
}

func (t *table) Get(key string) *cache.Entry[*httpcache.Entry] {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries[key]
}

func (t *table) Set(e *cache.Entry[*httpcache.Entry]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries[e.Key] = e
}

func (t *table) HasRoom(int64) bool { return !t.isFull }

func (t *table) Delete(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.entries, key)
}

func (t *table) Each(f func(*cache.Entry[*httpcache.Entry]) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		if !f(e) {
			return
		}
	}
}

// clock is a clock that a test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// sent is a request that the origin received.
type sent struct {
	method string
	header httpmessage.Fields
}

// site is a cache with its origin and its clock.
type site struct {
	t     *testing.T
	cache *httpcache.Cache
	clock *clock

	mu       sync.Mutex
	requests []sent
	// respond returns the response of the origin.
	respond func(ctx context.Context, r sent) (*httpmessage.Response, error)
}

const target = "http://a.example/b"

// newSite returns an empty cache; change may be nil.
func newSite(t *testing.T, change func(*httpcache.Config)) *site {
	t.Helper()
	s := &site{t: t, clock: &clock{at: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}}
	config := httpcache.Config{
		Store: &table{entries: make(map[string]*cache.Entry[*httpcache.Entry])}, Now: s.clock.now,
		Heuristic: httpcache.Heuristic{
			Fraction:    0.1,
			MaxLifetime: 24 * time.Hour,
		},
		MaxObject: 4 << 20, MaxArriving: 16 << 20, StaleFor: time.Hour, Targeted: []string{"Cdn-Cache-Control"},
		SameOrigin: func(uri, reference string) (string, bool) {
			if strings.HasPrefix(reference, "/") {
				reference = "http://a.example" + reference
			}
			return reference, strings.HasPrefix(reference, "http://a.example/")
		},
		Panicked: func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) },
	}
	if change != nil {
		change(&config)
	}
	s.cache = httpcache.New(config)
	t.Cleanup(s.cache.Close)
	return s
}

// forward implements httpcache.OriginFunc.
func (s *site) forward(ctx context.Context, o httpcache.Outgoing) (*httpmessage.Response, error) {
	r := sent{o.Method, o.Fields}
	s.mu.Lock()
	s.requests = append(s.requests, r)
	respond := s.respond
	s.mu.Unlock()
	return respond(ctx, r)
}

// count returns the number of requests that the origin received.
func (s *site) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// last returns the last request that the origin received.
func (s *site) last() sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		s.t.Fatal("the origin got no request")
	}
	return s.requests[len(s.requests)-1]
}

// fields returns fields from lines "Name: value".
func fields(lines ...string) httpmessage.Fields {
	header := httpmessage.Fields{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		header.Add(name, strings.TrimSpace(value))
	}
	return header
}

// response returns a response with these fields. A Date is added if missing.
func (s *site) response(status int, body string, lines ...string) *httpmessage.Response {
	header := fields(lines...)
	if header.Get("Date") == "" {
		header.Set("Date", s.clock.now().UTC().Format(http.TimeFormat))
	}
	return &httpmessage.Response{
		Status: status, Fields: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// sends sets the response of the origin for the following requests.
func (s *site) sends(status int, body string, lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		return s.response(status, body, lines...), nil
	}
}

// fails makes the origin fail for the following requests.
func (s *site) fails(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) { return nil, err }
}

var errOrigin = errors.New("the origin cannot be reached")

// got is the answer that a client received, with its body.
type got struct {
	*httpcache.Response
	body   string
	err    error // of the exchange
	broken error // of the body
}

// field returns the value of a field of the answer.
func (g got) field(name string) string {
	if g.Added.Has(name) {
		return g.Added.Get(name)
	}
	return g.Fields.Get(name)
}

// do sends a request of a client.
func (s *site) do(method string, lines ...string) got {
	return s.request(&httpcache.Request{
		Request: httpmessage.Request{Method: method, Fields: fields(lines...)},
		Key:     target,
	})
}

func (s *site) get(lines ...string) got { return s.do("GET", lines...) }

func (s *site) request(r *httpcache.Request) got {
	s.t.Helper()
	first := s.find(r)
	r.Found = first.stored
	a, err := s.cache.Serve(s.t.Context(), r, httpcache.OriginFunc(s.forward))
	if err != nil {
		s.compare(r, first, got{err: err})
		return got{err: err}
	}
	g := read(a)
	s.compare(r, first, g)
	s.checkReason(r, g.Outcome)
	return g
}

// checkReason checks that an outcome has a reason exactly if the response of the origin is not stored.
func (s *site) checkReason(r *httpcache.Request, o httpcache.Outcome) {
	s.t.Helper()
	message := o.NotStored.Code() != ""
	wants := !o.Hit() && !o.Stored && !o.Collapsed && r.Method == http.MethodGet && r.Body == nil
	switch o.Forwarded {
	case "bypass", "method":
		wants = false
	case "request": // with no-store or If-Match, storing is not decided
		wants = wants && message
	}
	if message != wants {
		s.t.Errorf("%s: %s", r.Method, o.Status("urnd"))
	}
}

// peek returns the body that a client gets, without the comparison with Find, because the background may change
// it.
func (s *site) peek() string {
	s.t.Helper()
	a, err := s.cache.Serve(s.t.Context(),
		&httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: fields()}, Key: target},
		httpcache.OriginFunc(s.forward))
	if err != nil {
		s.t.Fatal(err)
	}
	return read(a).body
}

// read reads the content of an answer.
func read(a *httpcache.Response) got {
	g := got{Response: a}
	if a.Content != nil {
		defer a.Content.Close()
		var b bytes.Buffer
		g.broken = a.Content.SendTo(&b, nil)
		g.body = b.String()
	}
	return g
}

// expect checks the status and body of an answer, and whether it is a cache hit.
func (s *site) expect(g got, status int, body string, hit bool) {
	s.t.Helper()
	switch {
	case g.err != nil:
		s.t.Errorf("it failed: %v", g.err)
	case g.Status != status || g.body != body || g.broken != nil || g.Outcome.Hit() != hit:
		s.t.Errorf("%d %q %v, %s; want %d %q, hit: %t", g.Status, g.body, g.broken, g.Outcome.Status("urnd"), status,
			body, hit)
	}
}

// eventually waits until a condition holds.
func (s *site) eventually(what string, holds func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			s.t.Fatalf("in 10 seconds not: %s", what)
		}
	}
}
