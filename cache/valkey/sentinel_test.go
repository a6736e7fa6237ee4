package valkey_test

import (
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

// atOnce returns the arguments of servers that synchronize a replica immediately. By default they wait five
// seconds for a second replica.
func atOnce() []string { return []string{"--repl-diskless-sync-delay", "0"} }

// When a server watched by sentinels is lost, its replica takes over: the level and the log of purges continue.
func TestSentinel(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	ca := testserver.NewAuthority(t)
	plain := func(t *testing.T) *testserver.Redis { t.Helper(); return testserver.StartRedis(t, atOnce()...) }
	named := func(t *testing.T) *testserver.Redis {
		t.Helper()
		server := testserver.StartRedis(t, atOnce()...)
		server.Do(append([]string{"ACL", "SETUSER", "urnd", "on", ">correct horse"},
			strings.Fields(documentedRights(t))...)...)
		return server
	}
	asUser := func(c *valkey.Config) { c.URL, c.Password = strings.Replace(c.URL, "://", "://urnd@", 1), password }
	for name, c := range map[string]struct {
		start  func(t *testing.T) *testserver.Redis
		line   string
		change func(*valkey.Config)
	}{
		"plain":                        {plain, "", func(*valkey.Config) {}},
		"a user":                       {named, "", asUser},
		"a password of sentinels, too": {named, `requirepass "correct horse"`, asUser},
		"by TLS": {func(t *testing.T) *testserver.Redis {
			t.Helper()
			server := testserver.StartRedisTLS(t, ca, append(atOnce(), "--tls-replication", "yes")...)
			server.Certify(ca.Issue(time.Hour, "localhost")) // sentinels name it by its address
			return server
		}, "", func(c *valkey.Config) {
			c.URL, c.CA = strings.Replace(c.URL, "redis://127.0.0.1", "rediss://localhost", 1), ca.PEM
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			main, replica := c.start(t), c.start(t)
			replica.Follow(main)
			sentinel := testserver.StartSentinel(t, main, 1, c.line)
			change := func(to *valkey.Config) {
				to.URL = "redis://" + sentinel.Addr() + "?master_set=names"
				c.change(to)
			}
			a, b := used(t, "", change), used(t, "", change)
			eventually(t, a, b, "at first")
			purgeReaches(t, a, b)
			main.Stop()
			a.get("without it", "own")
			eventually(t, a, b, "after it")
			if !replica.IsMaster() {
				t.Error("the replica has not taken over")
			}
			purgeReaches(t, a, b)
			main.Start() // as a replica, by the sentinel; it is not used
			eventually(t, a, b, "both there")
		})
	}
}

// A replica that takes over without the last purges makes all instances purge everything, like TestLostEnd.
func TestSentinelLosesPurges(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	main, replica := testserver.StartRedis(t, atOnce()...), testserver.StartRedis(t, atOnce()...)
	replica.Follow(main)
	sentinel := testserver.StartSentinel(t, main, 1)
	change := func(c *valkey.Config) { c.URL = "redis://" + sentinel.Addr() + "?master_set=names" }
	a, b := used(t, "", change), used(t, "", change)
	purgeReaches(t, a, b)
	replica.Freeze() // it misses the following writes
	main.Do("CLIENT", "KILL", "TYPE", "replica")
	for range 3 {
		purgeReaches(t, a, b)
	}
	before := []uint64{a.level.Stats().FullPurges, b.level.Stats().FullPurges}
	main.Kill()
	replica.Thaw()
	eventually(t, a, b, "after it")
	for n, i := range []*instance{a, b} {
		i.await(func(s valkey.Stats) bool { return s.FullPurges > before[n] })
	}
	purgeReaches(t, a, b)
}
