package valkey_test

import (
	"crypto/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

// In a cluster all keys are on one node, which the level finds wherever they are, also while they are migrated.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	cluster := testserver.StartRedisCluster(t, "0")
	urls := []string{
		"redis://" + cluster.Nodes[0].Addr(),
		"redis://" + cluster.Nodes[1].Addr() + "?addr=" + cluster.Nodes[2].Addr() + "&addr=127.0.0.1:1",
	}
	a := used(t, "", func(c *valkey.Config) { c.URL = urls[0] })
	b := used(t, "", func(c *valkey.Config) { c.URL = urls[1] })
	eventually(t, a, b, "at first")
	owner, other := cluster.Owner("{urnd}")
	cluster.Move("{urnd}", owner, other, func() { a.get("while it moves", "own") })
	if moved, _ := cluster.Owner("{urnd}"); moved != other {
		t.Fatal("the slot has not moved")
	}
	eventually(t, a, b, "moved")
	purgeReaches(t, a, b)

	other.Stop()
	for _, i := range []*instance{a, b} {
		i.get("without it", "own")
		i.await(func(s valkey.Stats) bool { return !s.Used })
	}
	other.Start()
	eventually(t, a, b, "back")
	purgeReaches(t, a, b)
}

// When a node of a cluster is lost, its replica takes over.
func TestClusterFailsOver(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	cluster := testserver.StartRedisCluster(t, "1")
	for _, node := range cluster.Nodes {
		node.Do(append([]string{"ACL", "SETUSER", "urnd", "on", ">correct horse"},
			strings.Fields(documentedRights(t))...)...)
	}
	url := "redis://urnd@" + cluster.Nodes[0].Addr() + "?addr=" + cluster.Nodes[1].Addr()
	change := func(c *valkey.Config) { c.URL, c.Password = url, password }
	a, b := used(t, "", change), used(t, "", change)
	eventually(t, a, b, "at first")
	owner, _ := cluster.Owner("{urnd}")
	owner.Stop()
	testserver.Wait(t, "the replica has taken over",
		func() bool { now, _ := cluster.Owner("{urnd}"); return now != nil })
	eventually(t, a, b, "after it")
	purgeReaches(t, a, b)
}

// eventually waits until one instance uses an outcome stored by another.
func eventually(t *testing.T, a, b *instance, key string) {
	t.Helper()
	n := 0
	until(t, func() bool {
		n++
		try := key + " " + strconv.Itoa(n)
		a.get(try, "of a") // b waits for its lease, if it had one
		return b.get(try, "of b").Value == "of a"
	})
}

// purgeReaches requires that a purge by one instance reaches another.
func purgeReaches(t *testing.T, a, b *instance) {
	t.Helper()
	p := valkey.Purge{Kind: "name", Text: rand.Text()}
	_ = a.purge(p) // published now or soon
	until(t, func() bool { return a.purged(p) && b.purged(p) })
}
