package proxy_test

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer/gs1"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
	"github.com/urnd/urnd/urnns/digitallink"
)

// world is a Handler with caches, over a table of names and an origin for all hosts, with a clock that a test sets.
type world struct {
	*proxy.Handler
	config proxy.Config
	nanos  atomic.Int64 // since the start

	mu     sync.Mutex
	events []proxy.Event
}

// newWorld returns a world. change may be nil.
func newWorld(t testing.TB, change func(*proxy.Config)) *world {
	t.Helper()
	w := new(world)
	known := knownNames(t)
	answers := cache.New(cache.Config[resolver.Locations]{
		Store: newEntries[resolver.Locations](), Now: w.now,
		LoadTimeout: time.Minute, RetryAfter: 30 * time.Second,
	})
	t.Cleanup(answers.Close)
	pages := httpcache.New(httpcache.Config{
		Store: newEntries[*httpcache.Entry](), Now: w.now, MaxObject: 1 << 20, MaxArriving: 16 << 20,
		Targeted:   []string{"Cdn-Cache-Control"},
		SameOrigin: func(string, string) (string, bool) { return "", false },
	})
	t.Cleanup(pages.Close)
	found := resolver.NewCached(answers, &table{requested: make(map[string]int)}, nil)
	origin := web{w.now}
	slots := func() quota.Limit { return quota.Limit{Semaphore: make(quota.Semaphore, 100)} }
	w.config = proxy.Config{
		Names: known, RuleTTL: time.Hour, ListingSize: 4 << 20, ListingTTL: time.Minute,
		Finder: &resolver.Finder{Names: known, Cache: answers},
		Resolver: resolver.NewCanonical(known,
			&resolver.Mux{Names: found, Locations: scheme.NewSelf(), Own: found, Owns: known.Owns}),
		Fetch: scheme.Mux{"http": origin, "https": origin}, Now: w.now, Log: slog.New(slog.DiscardHandler),
		Access: gate.Access{
			Resolve: []netip.Prefix{loopback}, Proxy: []netip.Prefix{loopback},
			Purge: []netip.Prefix{loopback},
		},
		OwnHosts:    route.NewOwnHosts("a", "purl.example", "id.example"),
		Hosts:       []string{"purl.example", "id.example"},
		Identifiers: []gs1.Site{{Host: "id.example", Root: identifierRoot + "/"}},
		Sites:       []proxy.Site{siteAt(t, nil, "http://10.0.0.1")},
		MaxTarget:   maxTarget, BatchTimeout: time.Minute, ClientQuotaPercent: 100,
		Forward: forward.Config{
			TunnelIdle: time.Minute, Fetches: slots(), Streams: slots(), Bound: slots(), Cache: pages,
			TunnelPort: func(uint16) bool { return true },
			Tunnel: func(context.Context, string, func(netip.AddrPort) error) (net.Conn, error) {
				return nil, resolver.ErrUnreachable
			},
		},
		Observers: proxy.Observers{
			Observe:  w.observe,
			Panicked: func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) },
		},
	}
	if change != nil {
		change(&w.config)
	}
	w.Handler = proxy.New(w.config)
	return w
}

// knownNames are the rules for names, including those of identifiers in web addresses and of a web host.
func knownNames(t testing.TB) resolver.Names {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	root, err := digitallink.NewRoot(identifierRoot+"/", digitallink.GS1())
	if err != nil {
		t.Fatal(err)
	}
	prefixes := []string{"urn:", "ark:/12345/", "https://purl.example/", identifierRoot + "/"}
	return resolver.Names{Set: set, Accept: uri.CurrentURN, Roots: digitallink.Roots{root}}.WithOwnedPrefixes(prefixes)
}

func (w *world) now() time.Time {
	return time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC).Add(time.Duration(w.nanos.Load()))
}

// pass advances the clock.
func (w *world) pass(d time.Duration) { w.nanos.Add(int64(d)) }

func (w *world) observe(e *proxy.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := *e // its strings may refer to the buffer of a connection
	for _, text := range []*string{
		&last.Method, &last.Target, &last.Host, &last.Referer, &last.UserAgent, &last.User,
		&last.ID, &last.Type, &last.Form, &last.Scheme,
	} {
		*text = strings.Clone(*text)
	}
	w.events = append(w.events, last)
}

// event returns the event of the last request.
func (w *world) event(t testing.TB) proxy.Event {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.events) == 0 {
		t.Fatal("no event")
	}
	return w.events[len(w.events)-1]
}

// ask handles a request, and reports whether Begin answered it.
func (w *world) ask(in *httpmessage.Incoming) (*proxytest.Recorder, bool) {
	return proxytest.Record(w.Handler, in)
}

// warm fills the caches with the response to GET for a target at a host.
func (w *world) warm(t testing.TB, target, host string, fields ...string) {
	t.Helper()
	testserver.Wait(t, "the caches have "+target+" at "+host, func() bool {
		_, started := w.ask(request("GET", target, append(fields, "Host", host)...))
		return started
	})
}

// request returns a request of a client on this machine for the host "a", unless fields have another Host.
func request(method, target string, fields ...string) *httpmessage.Incoming {
	if !slices.Contains(fields, "Host") {
		fields = append(fields, "Host", "a")
	}
	in := proxytest.Request(method, target, fields...)
	in.Conn = &proxytest.Conn{Remote: netip.MustParseAddrPort("127.0.0.1:1234")}
	return in
}

// shown returns a response as text, without the parts that vary: its date, its request identifier and its boundary.
func shown(w *proxytest.Recorder) string {
	lines := slices.DeleteFunc(w.Lines(), func(line string) bool {
		return strings.HasPrefix(line, "Date: ") || strings.HasPrefix(line, httpmessage.RequestIDField+": ")
	})
	text := strconv.Itoa(w.Status) + " " + w.Reason + "\n" + strings.Join(lines, "\n") + "\n\n" + w.Body.String()
	if _, boundary, ok := strings.Cut(w.Fields.Get("Content-Type"), "boundary="); ok {
		text = strings.ReplaceAll(text, strings.Trim(boundary, `"`), "boundary")
	}
	return text
}

// entries is a store that evicts nothing, and stores synchronously.
type entries[V any] struct {
	mu    sync.Mutex
	byKey map[string]*cache.Entry[V]
}

func newEntries[V any]() *entries[V] { return &entries[V]{byKey: make(map[string]*cache.Entry[V])} }

func (s *entries[V]) Get(key string) *cache.Entry[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byKey[key]
}

func (s *entries[V]) Set(e *cache.Entry[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byKey[strings.Clone(e.Key)] = e
}

func (s *entries[V]) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byKey, key)
}

func (s *entries[V]) Each(f func(*cache.Entry[V]) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.byKey {
		if !f(e) {
			return
		}
	}
}

// HasRoom implements httpcache.Store.
func (*entries[V]) HasRoom(int64) bool { return true }
