package testserver

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Sentinel is a running Redis Sentinel, which monitors one server and its replicas under the name "names".
type Sentinel struct {
	t    testing.TB
	addr netip.AddrPort
}

// StartSentinel starts a sentinel with a quorum of one, and waits until it knows the replicas of a server. It
// ends with the test.
func StartSentinel(t testing.TB, watched *Redis, replicas int, lines ...string) *Sentinel {
	t.Helper()
	dir := t.TempDir()
	addr, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	s := &Sentinel{t: t, addr: addr}
	file, output := filepath.Join(dir, "sentinel.conf"), filepath.Join(dir, "sentinel.out")
	listens := "port " + port(addr)
	if watched.pair != "" {
		pair := func(name string) string { return filepath.Join(watched.pair, name) }
		listens = fmt.Sprintf("port 0\ntls-port %s\ntls-replication yes\ntls-auth-clients no\ntls-cert-file "+
			"%s\ntls-key-file %s\ntls-ca-cert-file %s",
			port(addr), pair("certificate.pem"), pair("key.pem"), watched.ca.File)
	}
	text := fmt.Sprintf("bind 127.0.0.1\n%s\nsentinel monitor names 127.0.0.1 %s 1\nsentinel "+
		"down-after-milliseconds names 500\n"+
		"sentinel failover-timeout names 3000\n%s\n", listens, watched.replicates(), strings.Join(lines, "\n"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	started, err := startProcess(dir, output, Need(t, "redis-sentinel"), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := started.stop(); err != nil {
			t.Errorf("stop the sentinel: %v", err)
		}
	})
	Wait(t, "the sentinel knows the replicas", func() bool {
		if err := started.ended(); err != nil {
			reported, _ := os.ReadFile(output)
			t.Fatalf("%v\n%s", err, reported)
		}
		reported, _ := os.ReadFile(output)
		return strings.Count(string(reported), "+slave ") >= replicas
	})
	return s
}

// Addr returns the listening address as "127.0.0.1:port".
func (s *Sentinel) Addr() string { return s.addr.String() }

// replicates returns the port for replicas and sentinels.
func (r *Redis) replicates() string {
	if r.pair != "" {
		return port(r.tls)
	}
	return port(r.addr)
}

// Follow makes the server a replica of another one and waits until it is synchronized.
func (r *Redis) Follow(other *Redis) {
	r.t.Helper()
	r.Do("REPLICAOF", "127.0.0.1", other.replicates())
	Wait(r.t, "the replica follows",
		func() bool { return strings.Contains(r.Do("INFO", "replication"), "master_link_status:up") })
}

// IsMaster reports whether the server is not a replica.
func (r *Redis) IsMaster() bool {
	r.t.Helper()
	return strings.Contains(r.Do("INFO", "replication"), "role:master")
}
