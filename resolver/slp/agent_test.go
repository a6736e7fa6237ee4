package slp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/slp"
	"github.com/urnd/urnd/uri"
)

const serviceType = "service:urn-resolver:thttp"

// service is the registration of a server for a namespace.
func service(host, nid string, lifetime uint16) testserver.SLPService {
	return testserver.SLPService{
		URL: serviceType + "://" + host, Lifetime: lifetime, Type: serviceType, Scopes: []string{"DEFAULT"}, Lang: "en",
		Attributes: map[string][]string{"nid": {nid}},
	}
}

// fakeServers records the THTTP servers that are queried, and answers for them.
type fakeServers struct {
	bases []string
	down  map[string]bool
}

func (a *fakeServers) query(_ context.Context, base string, q resolver.Query) (resolver.Answer, error) {
	a.bases = append(a.bases, base)
	if a.down[base] {
		return resolver.Answer{}, resolver.ErrUnreachable
	}
	return resolver.Answer{Locations: []resolver.Location{{URI: base + "/" + q.URI.String()}}, TTL: time.Hour}, nil
}

type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(0, c.nanos.Load()) }

// newResolver returns a Resolver with these agents.
func newResolver(
	t *testing.T, now *clock, servers *fakeServers, change func(*slp.Config), agents ...string,
) *slp.Resolver {
	t.Helper()
	store, err := memory.New(memory.Config[slp.Servers]{MaxBytes: 1 << 20, Size: slp.ServersSize})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	found := cache.New(cache.Config[slp.Servers]{Store: store, Now: now.now})
	t.Cleanup(found.Close)
	config := slp.Config{
		Agents: agents, Scopes: []string{"DEFAULT"}, Lang: "en", Dial: (&net.Dialer{}).DialContext,
		Timeout: 20 * time.Second, Query: servers.query, Cache: found, NegativeTTL: time.Minute, Now: now.now,
	}
	if change != nil {
		change(&config)
	}
	return slp.New(config)
}

func resolve(t *testing.T, r *slp.Resolver, urn string) (string, time.Duration, error) {
	t.Helper()
	u, err := uri.Parse(urn)
	if err != nil {
		t.Fatal(err)
	}
	q, err := resolver.NewQuery(u, resolver.I2L)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := r.Resolve(t.Context(), q)
	if err != nil {
		return "", 0, err
	}
	return answer.Locations[0].URI, answer.TTL, nil
}

// The servers that an agent lists are queried in order, and cached for the least of their lifetimes.
func TestDiscovery(t *testing.T) {
	agent := testserver.StartSLP(t, service("one.example:8080", "foo", 60), service("two.example", "foo", 300),
		service("bar.example", "bar", 60))
	var now clock
	servers := &fakeServers{down: map[string]bool{"http://one.example:8080": true}}
	r := newResolver(t, &now, servers, nil, agent.Addr())
	for _, name := range []string{"urn:foo:1", "urn:foo:2"} {
		if got, ttl, err := resolve(t, r, name); got != "http://two.example/"+name || ttl != time.Minute || err != nil {
			t.Errorf("%s: %s for %s, %v", name, got, ttl, err)
		}
	}
	requests := agent.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests", len(requests))
	}
	if q := requests[0]; q.ServiceType != serviceType || q.Predicate != "(nid=foo)" || q.Lang != "en" ||
		q.Network != "udp" || q.Flags != 0 || q.SPI != "" {
		t.Errorf("%+v", q)
	}
	now.nanos.Add(int64(time.Minute))
	if _, _, err := resolve(t, r, "urn:foo:3"); err != nil || len(agent.Requests()) != 2 {
		t.Errorf("after the lifetime: %v, %d requests", err, len(agent.Requests()))
	}
	if got, _, err := resolve(t, r, "urn:bar:1"); got != "http://bar.example/urn:bar:1" {
		t.Errorf("another namespace: %s, %v", got, err)
	}
}

// A namespace without a server is ErrUnsupported, which is cached.
func TestNone(t *testing.T) {
	agent := testserver.StartSLP(t, service("a.example", "foo", 60))
	var now clock
	r := newResolver(t, &now, &fakeServers{}, nil, agent.Addr())
	for range 2 {
		_, _, err := resolve(t, r, "urn:unknown:1")
		var n *resolver.Negative
		if !errors.As(err, &n) || !errors.Is(err, resolver.ErrUnsupported) || n.TTL != time.Minute {
			t.Errorf("%v", err)
		}
	}
	if len(agent.Requests()) != 1 {
		t.Errorf("%d requests", len(agent.Requests()))
	}
	german := newResolver(t, &now, &fakeServers{}, func(c *slp.Config) { c.Lang = "de" }, agent.Addr())
	if _, _, err := resolve(t, german, "urn:foo:1"); !errors.Is(err, resolver.ErrUnsupported) {
		t.Errorf("in another language: %v", err)
	}
}

// notDirectory makes an agent reply like a service agent, which sends no DA Advertisement.
func notDirectory(reply []byte) []byte {
	if reply[1] == 8 { // DAAdvert
		return nil
	}
	return reply
}

// Without configured agents, the directory agents of a group are discovered first: RFC 2608 section 6, rule 3.
func TestDirectoryOfAGroup(t *testing.T) {
	directory := testserver.StartSLP(t, service("a.example", "foo", 60))
	group := netguard.Group(netip.MustParseAddrPort(directory.Addr()))
	var now clock
	r := newResolver(t, &now, &fakeServers{}, func(c *slp.Config) { c.Group = group })
	for _, nid := range []string{"foo", "unknown"} {
		_, _, err := resolve(t, r, "urn:"+nid+":1")
		if nid == "foo" && err != nil || nid == "unknown" && !errors.Is(err, resolver.ErrUnsupported) {
			t.Errorf("%s: %v", nid, err)
		}
	}
	var requested []string
	for _, r := range directory.Requests() {
		requested = append(requested, fmt.Sprintf("%s %04x", r.ServiceType, r.Flags))
	}
	if want := []string{
		"service:directory-agent 2000", serviceType + " 0000",
		serviceType + " 0000",
	}; !slices.Equal(requested, want) {
		t.Errorf("asked %v, want %v", requested, want)
	}
	// A silent directory agent is forgotten.
	directory.Mute(true)
	silent := newResolver(t, &now, &fakeServers{},
		func(c *slp.Config) { c.Group, c.Timeout = group, 300*time.Millisecond })
	if _, _, err := resolve(t, silent, "urn:foo:1"); !errors.Is(err, resolver.ErrUnsupported) {
		t.Errorf("a silent group: %v", err)
	}
}

// Without directory agents all agents of the group are queried, again if there is no reply (section 6.3), until
// there is one.
func TestMulticast(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	member := testserver.StartSLP(t, service("a.example", "foo", 60))
	lost := 1
	member.Tamper(func(reply []byte) []byte {
		if reply = notDirectory(reply); reply != nil && lost > 0 {
			lost--
			return nil
		}
		return reply
	})
	group := netguard.Group(netip.MustParseAddrPort(member.Addr()))
	var now clock
	r := newResolver(t, &now, &fakeServers{}, func(c *slp.Config) { c.Group, c.Timeout = group, 3*time.Second })
	start := time.Now()
	if got, _, err := resolve(t, r, "urn:foo:1"); got != "http://a.example/urn:foo:1" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	took := time.Since(start) // a round for the directory agents, and one for the lost reply
	var requests []testserver.SLPRequest
	for _, r := range member.Requests() {
		if r.ServiceType == serviceType {
			requests = append(requests, r)
		}
	}
	if len(requests) != 2 || requests[0].PRList != "" || requests[0].Flags != 0x2000 ||
		requests[0].XID != requests[1].XID {
		t.Errorf("%+v", requests)
	}
	start = time.Now()
	if _, _, err := resolve(t, r, "urn:unknown:1"); !errors.Is(err, resolver.ErrUnsupported) {
		t.Errorf("without replies: %v", err)
	}
	if all := time.Since(start); took >= all {
		t.Errorf("an answer took %s, none %s", took, all)
	}
	conn, _, err := group(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.WriteTo([]byte("x"), &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}); !errors.Is(err,
		netguard.ErrForbidden) {
		t.Errorf("to another address: %v", err)
	}
}

// The TTL of an answer is limited by the lifetime of the registration.
func TestLifetimes(t *testing.T) {
	var now clock
	agent := testserver.StartSLP(t, service("zero.example", "foo", 0), service("sixty.example", "foo", 60))
	r := newResolver(t, &now, &fakeServers{}, nil, agent.Addr())
	for range 2 {
		if _, ttl, err := resolve(t, r, "urn:foo:1"); ttl != 0 || err != nil {
			t.Errorf("ttl %s, %v", ttl, err)
		}
	}
	if n := len(agent.Requests()); n != 2 {
		t.Errorf("%d requests: a lifetime of 0 is cached", n)
	}
	agent = testserver.StartSLP(t, service("a.example", "foo", 60))
	r = newResolver(t, &now, &fakeServers{}, func(c *slp.Config) {
		c.Query = func(context.Context, string, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, TTL: time.Hour}
		}
	}, agent.Addr())
	_, _, err := resolve(t, r, "urn:foo:1")
	var n *resolver.Negative
	if !errors.As(err, &n) || n.TTL != time.Minute {
		t.Errorf("a negative answer of a server: %v", err)
	}
}

// A message that is too long for a datagram is sent over TCP.
func TestOverflow(t *testing.T) {
	var services []testserver.SLPService
	for i := range 10 {
		services = append(services, service(fmt.Sprintf("s%d.example", i), "foo", 60))
	}
	agent := testserver.StartSLP(t, services...)
	agent.MaxDatagram(100)
	var now clock
	servers := &fakeServers{down: map[string]bool{}}
	for i := range 9 {
		servers.down[fmt.Sprintf("http://s%d.example", i)] = true
	}
	r := newResolver(t, &now, servers, nil, agent.Addr())
	if got, _, err := resolve(t, r, "urn:foo:1"); got != "http://s9.example/urn:foo:1" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	requests := agent.Requests()
	if len(requests) != 2 || requests[0].Network != "udp" || requests[1].Network != "tcp" {
		t.Errorf("%+v", requests)
	}
	long := newResolver(t, &now, &fakeServers{},
		func(c *slp.Config) { c.Scopes = []string{"DEFAULT", strings.Repeat("a", 1500)} }, agent.Addr())
	if _, _, err := resolve(t, long, "urn:foo:1"); err != nil || len(agent.Requests()) != 3 ||
		agent.Requests()[2].Network != "tcp" {
		t.Errorf("a request too long for a datagram: %v, %d requests", err, len(agent.Requests()))
	}
}

// After a failed agent the next one is queried.
func TestAgentsThatFail(t *testing.T) {
	good := testserver.StartSLP(t, service("a.example", "foo", 60))
	failing := testserver.StartSLP(t)
	failing.Fail(10)
	var now clock
	r := newResolver(t, &now, &fakeServers{}, nil, failing.Addr(), good.Addr())
	if got, _, err := resolve(t, r, "urn:foo:1"); got != "http://a.example/urn:foo:1" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	r = newResolver(t, &now, &fakeServers{}, nil, failing.Addr())
	if _, _, err := resolve(t, r, "urn:foo:1"); !errors.Is(err, resolver.ErrUnreachable) ||
		!strings.Contains(err.Error(), "INTERNAL_ERROR") {
		t.Errorf("%v", err)
	}
	r = newResolver(t, &now, &fakeServers{}, func(c *slp.Config) { c.Scopes = []string{"OTHER"} }, good.Addr())
	if _, _, err := resolve(t, r, "urn:foo:1"); !errors.Is(err, resolver.ErrUnreachable) ||
		!strings.Contains(err.Error(), "SCOPE_NOT_SUPPORTED") {
		t.Errorf("%v", err)
	}
}

// A lost datagram is sent again; invalid replies are skipped.
func TestSilentAndInvalidAgents(t *testing.T) {
	shortTimeout := func(c *slp.Config) { c.Timeout = 100 * time.Millisecond }
	silent := testserver.StartSLP(t)
	silent.Mute(true)
	var now clock
	r := newResolver(t, &now, &fakeServers{}, func(c *slp.Config) { c.Timeout = time.Second }, silent.Addr())
	if _, _, err := resolve(t, r, "urn:foo:1"); !errors.Is(err,
		context.DeadlineExceeded) || len(silent.Requests()) != 2 ||
		silent.Requests()[0].XID != silent.Requests()[1].XID {
		t.Errorf("%v, after %d requests", err, len(silent.Requests()))
	}
	for what, lie := range map[string]func([]byte) []byte{
		"another XID": func(b []byte) []byte { b[11]++; return b },
		"garbage":     func([]byte) []byte { return []byte("HTTP/1.1 400 Bad Request\r\n\r\n") },
		"cut":         func(b []byte) []byte { return b[:len(b)-1] },
		"version 1":   func(b []byte) []byte { b[0] = 1; return b },
	} {
		agent := testserver.StartSLP(t, service("a.example", "foo", 60))
		agent.Tamper(lie)
		r := newResolver(t, &now, &fakeServers{}, shortTimeout, agent.Addr())
		if _, _, err := resolve(t, r, "urn:foo:1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// If all servers of a list fail, and the list is not new, they are discovered again.
func TestServersThatMoved(t *testing.T) {
	agent := testserver.StartSLP(t, service("a.example", "foo", 65535))
	var now clock
	servers := &fakeServers{down: map[string]bool{}}
	r := newResolver(t, &now, servers, func(c *slp.Config) { c.Recheck = 5 * time.Second }, agent.Addr())
	if _, _, err := resolve(t, r, "urn:foo:1"); err != nil {
		t.Fatal(err)
	}
	servers.down["http://a.example"] = true
	if _, _, err := resolve(t, r, "urn:foo:1"); !errors.Is(err, resolver.ErrUnreachable) || len(agent.Requests()) != 1 {
		t.Errorf("the list is new: %v, after %d requests", err, len(agent.Requests()))
	}
	now.nanos.Add(int64(6 * time.Second))
	agent.Tamper(func(reply []byte) []byte {
		return bytes.Replace(reply, []byte("//a.example"), []byte("//b.example"), 1)
	})
	if got, _, err := resolve(t, r, "urn:foo:1"); got != "http://b.example/urn:foo:1" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

// During its backoff, a silent agent is not queried again.
func TestSilentAgentIsRemembered(t *testing.T) {
	silent, good := testserver.StartSLP(t),
		testserver.StartSLP(t, service("a.example", "foo", 1), service("b.example", "bar", 1))
	silent.Mute(true)
	var now clock
	r := newResolver(t, &now, &fakeServers{}, func(c *slp.Config) {
		// Long enough for the other agent on a busy machine.
		c.Timeout, c.Backoff = time.Second, resolver.NewBackoff(5*time.Second, now.now)
	}, silent.Addr(), good.Addr())
	for _, urn := range []string{"urn:foo:1", "urn:bar:1"} {
		if _, _, err := resolve(t, r, urn); err != nil {
			t.Errorf("%s: %v", urn, err)
		}
	}
	testserver.Wait(t, "silent agent queried", func() bool { return len(silent.Requests()) > 0 })
	requests := silent.Requests() // of the first name only: one, or a second one if the first was sent early
	if n := len(requests); n > 2 || requests[n-1].XID != requests[0].XID {
		t.Errorf("silent agent queried for the second name: %+v", requests)
	}
}

// Unusable URLs of an agent are reported.
func TestUnusableURLs(t *testing.T) {
	agent := testserver.StartSLP(t, service("a.example,60", "foo", 60), service("b.example", "foo", 60))
	var now clock
	var unusable []string
	r := newResolver(t, &now, &fakeServers{}, func(c *slp.Config) {
		c.Unusable = func(url string, reason error) { unusable = append(unusable, url+": "+reason.Error()) }
	}, agent.Addr())
	if got, _, err := resolve(t, r, "urn:foo:1"); got != "http://b.example/urn:foo:1" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if len(unusable) != 1 || !strings.HasPrefix(unusable[0], serviceType+"://a.example,60: ") {
		t.Errorf("%q", unusable)
	}
}

// Names that fail at the same time share one discovery.
func TestDiscoveryOfManyNames(t *testing.T) {
	agent := testserver.StartSLP(t, service("a.example", "foo", 65535))
	var now clock
	var mu sync.Mutex
	requested := 0
	r := newResolver(t, &now, &fakeServers{}, func(c *slp.Config) {
		c.Recheck = 5 * time.Second
		c.Query = func(context.Context, string, resolver.Query) (resolver.Answer, error) {
			mu.Lock()
			defer mu.Unlock()
			requested++
			return resolver.Answer{}, resolver.ErrUnreachable
		}
	}, agent.Addr())
	_, _, _ = resolve(t, r, "urn:foo:0")
	now.nanos.Add(int64(6 * time.Second))
	for i := range 20 {
		_, _, _ = resolve(t, r, fmt.Sprintf("urn:foo:%d", i))
	}
	if n := len(agent.Requests()); n != 2 {
		t.Errorf("%d discoveries", n)
	}
}
