//go:build e2e

package machines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// startSharing runs urnd with a second-level cache in a server at an address.
func startSharing(t *testing.T, dns, address string, change func(*config.Config)) instance {
	t.Helper()
	key := writeTemp(t, "key", strings.Repeat("k", 64)+"\n")
	return startInstance(t, dns, func(c *config.Config) {
		c.Cache.Shared, c.Cache.SharedKey, c.Cache.SharedTimeout = "redis://"+address, key, time.Second
		if change != nil {
			change(c)
		}
	})
}

// usesShared waits until the second level is used and its purge log is read.
func (w instance) usesShared(t *testing.T, used bool) {
	t.Helper()
	testserver.Wait(t, fmt.Sprintf("the shared level is used: %t", used), func() bool {
		return strings.Contains(w.Scrape(t), "\nurnd_shared_cache_used 1\n") == used
	})
}

// manyZones starts a DNS server with rules for many namespaces, each of which needs a query.
func manyZones(t *testing.T, namespaces int) (server *testserver.BIND, names []string) {
	t.Helper()
	text := "$TTL 300\n@ IN SOA ns hostmaster 1 60 60 60 300\n@ IN NS ns\nns IN A 127.0.0.1\n"
	for n := range namespaces {
		text += fmt.Sprintf("n%d 300 IN NAPTR 100 10 \"u\" \"http+N2L\" "+
			"\"!^urn:n%d:(.+)$!https://n.example/\\\\1!\" .\n", n, n)
		names = append(names, fmt.Sprintf("urn:n%d:a", n))
	}
	return testserver.StartBIND(t, testserver.Zone{Name: "urn.example.org", Text: text}), names
}

// ruleQueries returns the queries since the last Reset, without the query by which urnd checks whether the
// server responds: each instance sends it if a response is late, as on a busy machine.
func ruleQueries(bind *testserver.BIND) []string {
	return slices.DeleteFunc(bind.Queries(), func(question string) bool { return question == "urn.example.org NAPTR" })
}

// TestSharingAsksAThird checks that three instances with a shared level send a third of the DNS queries of
// three without, also with concurrent requests.
func TestSharingAsksAThird(t *testing.T) {
	t.Parallel()
	const namespaces, clients = 30, 90
	bind, names := manyZones(t, namespaces)
	server := testserver.StartRedis(t)
	requested := make(map[bool]int)
	for _, shares := range []bool{false, true} {
		var daemons []instance
		for range 3 {
			w := startSharing(t, bind.Addr(), server.Addr(), func(c *config.Config) {
				if !shares {
					c.Cache.Shared, c.Cache.SharedKey = "", ""
				}
			})
			if shares {
				w.usesShared(t, true)
			}
			daemons = append(daemons, w)
		}
		bind.Reset()
		outcomes := make(chan map[string]int)
		for _, w := range daemons {
			go func() { outcomes <- w.crowd(t, clients, names...) }()
		}
		for range daemons {
			if got := <-outcomes; got["https://n.example/a"] != clients {
				t.Errorf("names lead to %v", got)
			}
		}
		requested[shares] = len(ruleQueries(bind))
	}
	// A request that waits longer than a second for another instance sends its own query, which happens on a
	// busy machine.
	if requested[false] != 3*namespaces || requested[true] < namespaces || requested[true] > requested[false]/2 {
		t.Errorf("without a shared level the DNS was asked %d times, with it %d times", requested[false],
			requested[true])
	}
}

// TestSharingDespiteOtherTexts checks that instances share answers if the settings on which these depend are
// equal, although other settings for servers differ.
func TestSharingDespiteOtherTexts(t *testing.T) {
	t.Parallel()
	const namespaces = 10
	bind, names := manyZones(t, namespaces)
	server := testserver.StartRedis(t)
	a := startSharing(t, bind.Addr(), server.Addr(), nil)
	b := startSharing(t, bind.Addr(), server.Addr(), func(c *config.Config) {
		c.DNS.Timeout, c.DNS.Rounds, c.DNS.MixedCase = 3*time.Second, 3, false
		c.Resolve.Timeout, c.Resolve.Backoff = 20*time.Second, time.Second
	})
	for _, w := range []instance{a, b} {
		w.usesShared(t, true)
	}
	bind.Reset()
	for _, w := range []instance{a, b} {
		if got := w.crowd(t, namespaces, names...); got["https://n.example/a"] != namespaces {
			t.Errorf("names lead to %v", got)
		}
		if w == a {
			testserver.Wait(t, "answers and records are stored", func() bool {
				return strings.Contains(w.Scrape(t),
					fmt.Sprintf(`urnd_cache_lookups_total{cache="shared",outcome="written"} %d`, 2*namespaces))
			})
		}
	}
	for _, w := range []instance{a, b} {
		testserver.Wait(t, "it sees that it is not alone", func() bool {
			return strings.Contains(w.Scrape(t), "\nurnd_shared_cache_alone{cache=\"answers\"} 0\n")
		})
	}
	if requested := ruleQueries(bind); len(requested) != namespaces {
		t.Errorf("the DNS was asked %d times: %q", len(requested), requested)
	}
}

// TestPurgeReachesAll checks that a purge at one instance reaches the others within a second, and a
// disconnected one as soon as it reconnects.
func TestPurgeReachesAll(t *testing.T) {
	t.Parallel()
	bind, names := manyZones(t, 4)
	server := testserver.StartRedis(t)
	relay := testserver.StartRelay(t, server.Addr())
	a, b, c := startSharing(t, bind.Addr(), server.Addr(), nil), startSharing(t, bind.Addr(), server.Addr(), nil),
		startSharing(t, bind.Addr(), relay.Addr(), nil)
	all := []instance{a, b, c}
	fill := func() {
		for _, w := range all {
			w.usesShared(t, true)
			for _, name := range names {
				testserver.Wait(t, name+" is in memory", func() bool { return w.CacheStates(t, "/"+name) == "hit" })
			}
		}
	}
	gone := func(w instance, name string) {
		t.Helper()
		began := time.Now()
		testserver.Wait(t, name+" is purged", func() bool { return w.CacheStates(t, "/"+name) != "hit" })
		if took := time.Since(began); took > 5*time.Second { // includes delays of a busy machine
			t.Errorf("%s was purged only after %v", name, took)
		}
	}
	fill()
	for n, query := range []string{"uri=" + names[0], "namespace=n1", "prefix=urn:n2:", "all=true"} {
		a.purge(t, "cache/entries?mode=hard&"+query)
		gone(b, names[n])
		gone(c, names[n])
		fill()
	}
	relay.Cut()
	c.usesShared(t, false)
	a.purge(t, "cache/entries?mode=hard&uri="+names[0])
	gone(b, names[0])
	if got := c.CacheStates(t, "/"+names[0], "/"+names[3]); got != "hit hit" {
		t.Errorf("one that is cut off has %s", got)
	}
	relay.Restore()
	c.usesShared(t, true)
	gone(c, names[0])
	if got := c.CacheStates(t, "/"+names[3]); got != "hit" {
		t.Errorf("not purged: %s", got)
	}
}

// testCutOff checks that an instance that was disconnected from PostgreSQL and the shared level together
// resumes with both.
func testCutOff(t *testing.T, server database) {
	bind, names := manyZones(t, 2)
	cache := testserver.StartRedis(t)
	toCache, toDatabase := testserver.StartRelay(t, cache.Addr()), testserver.StartRelay(t, server.Socket())
	at := func(address, url string) instance {
		return startSharing(t, bind.Addr(), address, func(c *config.Config) {
			c.Registry.Store = url
			c.Registry.Owned = []string{"urn:example:"}
		})
	}
	a, b := at(cache.Addr(), server.URL(server.name)), at(toCache.Addr(), server.URLAt(toDatabase.Addr(), server.name))
	for _, w := range []instance{a, b} {
		w.usesShared(t, true)
		w.seesRegistry(t, true)
	}
	a.set(t, "urn:example:a", "https://a.example/1")
	b.remembers(t, append(names, "urn:example:a")...)
	toCache.Cut()
	toDatabase.Cut()
	b.usesShared(t, false)
	b.seesRegistry(t, false)
	a.set(t, "urn:example:a", "https://a.example/2")
	a.purge(t, "cache/entries?mode=hard&uri="+names[0])
	if got := b.target(t, "urn:example:a"); got != "https://a.example/1" {
		t.Errorf("one that is cut off answers %s", got)
	}
	if got := b.target(t, names[0]); got != "https://n.example/a" {
		t.Errorf("one that is cut off answers %s", got)
	}
	bind.Reset()
	toCache.Restore()
	toDatabase.Restore()
	b.expect(t, "urn:example:a", "https://a.example/2")
	testserver.Wait(t, "the purge is known", func() bool { return b.CacheStates(t, "/"+names[0]) != "hit" })
	b.usesShared(t, true)
	b.seesRegistry(t, true)
	if got := b.CacheStates(t, "/"+names[1]); got != "hit" {
		t.Errorf("not purged: %s", got)
	}
	if got := ruleQueries(bind); len(got) > 1 {
		t.Errorf("after the return the DNS was asked %q", got)
	}
}

// TestSharedFailures checks that problems of the shared level are reported by config check, or by the log and the
// readiness, without revealing secrets.
func TestSharedFailures(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2"
	short, key := writeTemp(t, "short", "short"), writeTemp(t, "key", strings.Repeat("k", 64))
	for line, message := range map[string]string{
		"{shared: 'http://cache.example', shared_key: '" + key +
			"'}": "cache.shared: is not a URL that begins with redis://",
		"{shared: 'redis://u:" + secret + "@cache.example', shared_key: '" + key +
			"'}": "cache.shared: contains a password",
		"{shared: 'redis://cache.example/x', shared_key: '" + key +
			"'}": "is not a database number",
		"{shared: 'redis://cache.example'}":                              "cache.shared_key",
		"{shared: 'redis://cache.example', shared_key: '" + short + "'}": "shorter than",
		"{shared: 'redis://cache.example', shared_key: /nowhere}": "cache.shared_key: reading the file: no " +
			"such file",
		"{shared: 'redis://cache.example', shared_key: '" + key +
			"', shared_password: /nowhere/of}": "cache.shared_password",
		"{shared: 'rediss://cache.example', shared_key: '" + key + "', shared_ca: '" + short + "'}": "cache.shared",
		"{shared: 'redis://cache.example', shared_key: '" + key +
			"', shared_prefix: 'a b'}": "cache.shared_prefix",
		"{shared: 'redis://cache.example?tls=true', shared_key: '" + key +
			"', shared_prefix: 'urnd'}": `has the unknown parameter "tls"`,
		"{shared: 'redis://cache.example', shared_key: '" + key +
			"', shared_timeout: 1h}": "cache.shared_timeout",
		"{shared_key: '" + key +
			"'}": "cache.shared is empty",
	} {
		l := newFileDaemon(t, "cache: "+line)
		out, exit := runUrnd(t, "config", "check", l.file)
		if !strings.Contains(out, message) || strings.Contains(out, secret) ||
			(exit == 0) != (message == "cache.shared is empty") {
			t.Errorf("%s: %v, %s", line, exit, out)
		}
	}
	server := testserver.StartRedis(t, "--requirepass", secret)
	for name, c := range map[string]struct{ address, password, message string }{
		"no password":    {server.Addr(), "", "wrong or missing user or password"},
		"wrong password": {server.Addr(), "wrong-password", "wrong or missing user or password"},
		"no server":      {"127.0.0.1:1", secret, "connection refused"},
		"database":       {server.Addr() + "/99", secret, "no database of this number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startSharing(t, "127.0.0.1:1", c.address, func(to *config.Config) {
				if c.password != "" {
					to.Cache.SharedPassword = writeTemp(t, "password", c.password+"\n")
				}
			})
			w.WaitForLog(t, c.message)
			testserver.Wait(t, "readiness says so",
				func() bool { return strings.Contains(w.readiness(t), "shared cache unavailable") })
			if log := w.Log(); strings.Contains(log, secret) || strings.Contains(log, "wrong-password") {
				t.Errorf("the log has a secret: %s", log)
			}
		})
	}
	w := startSharing(t, "127.0.0.1:1", server.Addr(),
		func(to *config.Config) { to.Cache.SharedPassword = writeTemp(t, "password", secret+"\n") })
	w.usesShared(t, true)
}
