package testserver

import (
	"os/exec"
	"strings"
	"testing"
)

// RedisCluster is a cluster of three primaries, each with a third of the keys, and their replicas.
type RedisCluster struct {
	t     testing.TB
	Nodes []*Redis
}

// StartRedisCluster starts three servers, each with a number of replicas, and waits until the cluster is ready.
// It ends with the test.
func StartRedisCluster(t testing.TB, replicas string, args ...string) *RedisCluster {
	t.Helper()
	program := Need(t, "redis-cli")
	c := &RedisCluster{t: t}
	create := []string{"--cluster", "create"}
	nodes := 3
	if replicas != "0" {
		nodes = 6
	}
	for range nodes {
		bus, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		node := StartRedis(t,
			append([]string{"--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-port", port(bus)},
				args...)...)
		c.Nodes, create = append(c.Nodes, node), append(create, node.Addr())
	}
	reported, err := exec.Command(program,
		append(create, "--cluster-replicas", replicas, "--cluster-yes")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, reported)
	}
	Wait(t, "all nodes know the cluster", func() bool {
		for _, node := range c.Nodes {
			if !strings.Contains(node.Do("CLUSTER", "INFO"), "cluster_state:ok") ||
				strings.Count(node.Do("CLUSTER", "NODES"), " connected") < nodes {
				return false
			}
		}
		return true
	})
	return c
}

// Owner returns the server that stores a key, and another primary.
func (c *RedisCluster) Owner(key string) (owner, other *Redis) {
	c.t.Helper()
	for _, node := range c.Nodes {
		switch {
		case node.process == nil || !node.IsMaster():
		case strings.HasPrefix(node.Do("TYPE", key), "+"): // others return a redirection
			owner = node
		default:
			other = node
		}
	}
	return owner, other
}

// Move moves the slot of a key with its content to another server. between is called during the migration, when
// both servers may be queried for the keys.
func (c *RedisCluster) Move(key string, from, to *Redis, between func()) {
	c.t.Helper()
	do := func(node *Redis, words ...string) string {
		reply := node.Do(words...)
		if strings.HasPrefix(reply, "-") {
			c.t.Fatalf("%q: %s", words, reply)
		}
		return reply
	}
	slot := strings.TrimSpace(do(from, "CLUSTER", "KEYSLOT", key)[1:])
	do(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", bulk(do(from, "CLUSTER", "MYID")))
	do(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", bulk(do(to, "CLUSTER", "MYID")))
	between()
	for {
		keys := strings.Split(do(from, "CLUSTER", "GETKEYSINSLOT", slot, "1"), "\r\n")
		if keys[0] == "*0" {
			break
		}
		do(from, "MIGRATE", "127.0.0.1", port(to.addr), keys[2], "0", "5000")
	}
	for _, node := range append([]*Redis{to, from}, c.Nodes...) {
		if node.process != nil && node.IsMaster() {
			do(node, "CLUSTER", "SETSLOT", slot, "NODE", bulk(do(to, "CLUSTER", "MYID")))
		}
	}
}

// bulk returns the string in a response.
func bulk(reply string) string {
	_, text, _ := strings.Cut(reply, "\r\n")
	return strings.TrimSuffix(text, "\r\n")
}
