package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer/gs1"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
	"github.com/urnd/urnd/urnns/digitallink"
)

// recorder records what happens behind the connection.
type recorder struct {
	mu       sync.Mutex
	events   []string
	answered []string // names, in an order of their own
	log      bytes.Buffer
}

func (r *recorder) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

func (r *recorder) answer(userAgent string, record *resolver.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = append(r.answered, fmt.Sprintf("answered %s for %q", record.Name, userAgent))
}

// take returns what was recorded since the last call.
func (r *recorder) take() (events []string, log string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events, log = append(r.events, r.answered...), r.log.String()
	r.events, r.answered = nil, nil
	r.log.Reset()
	return events, log
}

// observe records what metrics and access logs take from an event.
func (r *recorder) observe(e *proxy.Event) {
	r.add("%s %s %s at %s by %q %q %q: client %v, form %s, scheme %s, service %v, cache %s, rule %s, status %d, %d octets of %q in %v, id %s, error %v",
		e.Method, e.Target, e.Proto, e.Host, e.Referer, e.UserAgent, e.User, e.Client, e.Form, e.Scheme, e.Service, e.Cache, e.Rule, e.Status, e.Bytes,
		e.Type, e.Took, e.ID, e.Err)
}

// world is a handler with all that it stands on.
type world struct {
	recorder
	handler *proxy.Handler
	answers *cache.Cache[resolver.Locations]
	web     *httpcache.Cache
	config  proxy.Config
	fast    *watchedPath
	closers []func()
}

// newWorld returns a handler with caches over some stores.
func newWorld(t testing.TB, s *stores, v *variant, now func() time.Time) *world {
	t.Helper()
	w := new(world)
	known, err := knownNames()
	if err != nil {
		t.Fatal(err)
	}
	w.answers = cache.New(cache.Config[resolver.Locations]{
		Store: s.answers, Now: now, LoadTimeout: time.Minute, RefreshAhead: v.refreshes, StaleFor: time.Hour, RetryAfter: 30 * time.Second,
	})
	var files *disk.Store
	maxObject := int64(64 << 20)
	if v.hasDisk {
		maxObject = 1 << 20 // what is larger is on disk alone
		var closes func()
		files, closes = openDisk(t, now)
		w.closers = append(w.closers, closes)
	}
	w.web = httpcache.New(httpcache.Config{
		Disk: files, Store: s.web, Now: now, MaxObject: maxObject, MaxArriving: 16 << 20, StaleFor: time.Minute, Targeted: []string{"Cdn-Cache-Control"},
		Same: func(string, string) (string, bool) { return "", false },
	})
	table := resolver.NewCached(w.answers, &names{asked: s.asked}, nil)
	cached := resolver.NewCanonical(known, &resolver.Split{Names: table, Locations: scheme.NewSelf(), Own: table, Owns: known.Owns})
	slots := func() resolver.Quota { return resolver.Quota{Slots: make(resolver.Slots, 100)} }
	w.config = proxy.Config{
		Names: known, RuleTTL: time.Hour, ListingSize: 4 << 20, ListingTTL: time.Minute, Ready: &resolver.Ready{Names: known, Cache: w.answers},
		Resolver: cached, Fetch: scheme.Mux{"http": web{now}, "https": web{now}}, Now: now, Log: slog.New(slog.NewTextHandler(w,
			&slog.HandlerOptions{Level: v.level, ReplaceAttr: withoutTime})),
		Access: gate.Access{Resolve: []netip.Prefix{loopback}, Proxy: []netip.Prefix{loopback}}, Own: route.NewOwnHosts("a", "purl.example", "id.example"),
		Hosts:       []string{"purl.example", "id.example"},
		Identifiers: []gs1.Site{{Host: "id.example", Root: identifierRoot + "/"}},
		MaxTarget:   maxTarget, BatchTimeout: time.Minute, ClientShare: 100,
		Forward: forward.Config{
			BodyTimeout: time.Second, TunnelIdle: time.Minute, Fetches: slots(), Streams: slots(), Cache: w.web,
			TunnelPort: func(uint16) bool { return true }, Literals: true,
			Tunnel: func(context.Context, string, func(netip.AddrPort) error) (net.Conn, error) {
				return nil, resolver.ErrUnreachable
			},
		},
		Observers: proxy.Observers{
			Observe: w.observe, Answered: w.answer,
			Panicked: func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) },
		},
	}
	if v.change != nil {
		v.change(&w.config)
	}
	w.handler = proxy.New(w.config)
	w.fast = &watchedPath{handler: w.handler, served: make(map[string]int)}
	return w
}

// openDisk opens a disk of the HTTP cache, and returns what closes it.
func openDisk(t testing.TB, now func() time.Time) (files *disk.Store, closes func()) {
	t.Helper()
	files, err := disk.Open(t.TempDir(), disk.Config{MaxBytes: 256 << 20, Now: now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { files.Run(ctx) })
	testserver.Wait(t, "the index is made", func() bool {
		w, err := files.Create("probe")
		return err == nil && w.Close() == nil
	})
	return files, func() {
		cancel()
		running.Wait()
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	}
}

// withoutTime removes the time of a log, which is that of the system.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// knownNames are the rules for names, which do not change.
var knownNames = sync.OnceValues(func() (resolver.Names, error) {
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		return resolver.Names{}, err
	}
	root, err := digitallink.NewRoot(identifierRoot+"/", digitallink.GS1())
	return resolver.Names{Set: set, Accept: uri.CurrentURN, Roots: digitallink.Roots{root}}.Owning([]string{"urn:", "ark:/12345/", "https://purl.example/", identifierRoot + "/"}), err
})

// close closes the caches.
func (w *world) close() {
	w.answers.Close()
	w.web.Close()
	for _, closes := range w.closers {
		closes()
	}
}

// serve starts the server of a variant, and returns what stops it.
func (w *world) serve(t *testing.T, listener net.Listener, v *variant, isFast bool) (stop func()) {
	t.Helper()
	config := listen.ServerConfig{
		Handler: w.handler, Now: time.Now, Log: w.config.Log, Malformed: malformed, MaxTarget: w.config.MaxTarget, MaxHeader: 64 << 10,
		HeaderTimeout: 5 * time.Second, BodyDeadline: func() time.Time { return time.Now().Add(bodyTimeout) }, IdleTimeout: 20 * time.Second,
		ShutdownTimeout: 5 * time.Second,
		Refused:         func(status int) { w.add("refused %d", status) },
		Unused:          func() { w.add("unused") },
	}
	if isFast {
		config.FastPath = w.fast
	}
	if v.serving != nil {
		v.serving(t, &config)
	}
	socket := listen.NewSocket(listener, listen.SocketConfig{WriteDeadline: func() time.Time { return time.Now().Add(time.Minute) }})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- listen.NewServer(config).Serve(ctx, socket.Listen()) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			w.add("ended with %v", err)
		}
		_ = socket.Close()
	}
}

// watchedPath is the fast path of a handler. It tells which requests that answers.
type watchedPath struct {
	handler  *proxy.Handler
	cuts     []int
	answered int            // from the caches
	served   map[string]int // otherwise, by their methods
	read     func() int     // octets of the connection so far
}

// AnswerFast implements listen.FastPath.
func (p *watchedPath) AnswerFast(c *listen.FastConn, octets []byte) (used int) {
	text := string(octets)
	used = p.handler.Fast().AnswerFast(c, octets)
	at := p.read() - len(text)
	for rest := text[:used]; rest != ""; {
		_, behind, _ := strings.Cut(rest, "\r\n\r\n")
		at += len(rest) - len(behind)
		p.cuts = append(p.cuts, at)
		p.answered++
		rest = behind
	}
	return used
}

// ServePlain implements listen.FastPath.
func (p *watchedPath) ServePlain(c *listen.FastConn, octets []byte) (used int) {
	if used = p.handler.Fast().ServePlain(c, octets); used > 0 {
		p.cuts = append(p.cuts, p.read()-len(octets)+used) // a body may have come meanwhile
		p.served[string(octets[:max(bytes.IndexByte(octets, ' '), 0)])]++
	}
	return used
}
