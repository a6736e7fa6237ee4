package valkey_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

// A source slower than a lease is queried once: the loading instance renews the lease, and the others wait for
// the outcome.
func TestLeaseIsKept(t *testing.T) {
	server := testserver.StartRedis(t)
	all := []*instance{used(t, server.Addr(), nil), used(t, server.Addr(), nil), used(t, server.Addr(), nil)}
	var asking sync.WaitGroup
	for _, i := range all {
		asking.Go(func() {
			got, err := i.cache.Get(t.Context(), "key", func(context.Context) (string, time.Duration, error) {
				i.loads.Add(1)
				time.Sleep(2500 * time.Millisecond) // a slow source
				return "v", time.Minute, nil
			})
			if err != nil || got.Value != "v" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	asking.Wait()
	loads := int32(0)
	for _, i := range all {
		loads += i.loads.Load()
	}
	if loads != 1 {
		t.Errorf("the source was asked %d times", loads)
	}
}

// If a server claims that another instance has every lease, a load waits for at most a third of its time.
func TestHeldLease(t *testing.T) {
	server := testserver.StartRedis(t)
	l := startLiar(t, listen(t), server.Addr())
	a := used(t, l.addr(), nil)
	l.say(func(words []string, reply string) []byte {
		if text, ok := strings.CutSuffix(reply, ":1\r\n"); ok && strings.HasPrefix(words[0],
			"EVAL") && words[2] == "3" {
			return []byte(text + ":0\r\n")
		}
		return []byte(reply)
	})
	const waitLimit = 2 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	started := time.Now()
	loaded := a.view.Load(ctx, "key", cache.AnyFresh, a.source("own", time.Minute, nil))
	if took := time.Since(started); loaded.Value != "own" || loaded.Err != nil || took > waitLimit*3/4 {
		t.Errorf("got %+v after %s", loaded, took)
	}
	if s := a.level.Stats(); s.Waits == 0 {
		t.Errorf("counts %+v", s)
	}
}

// Occasional late replies, even somewhat more than usual, do not open the circuit breaker.
func TestLateReplies(t *testing.T) {
	const keys, timeout = 200, 20 * time.Millisecond
	server := testserver.StartRedis(t)
	b := used(t, server.Addr(), nil)
	for n := range keys {
		b.put(strconv.Itoa(n), "of b")
	}
	for name, delay := range map[string]func(n int) time.Duration{
		"up to the limit":      func(n int) time.Duration { return timeout * time.Duration(n%11) / 10 },
		"beyond it, sometimes": func(n int) time.Duration { return time.Duration(n%10/9) * 2 * timeout },
	} {
		t.Run(name, func(t *testing.T) {
			l := startLiar(t, listen(t), server.Addr())
			a := used(t, l.addr(), func(c *valkey.Config) { c.Timeout = timeout })
			var requested atomic.Int64
			l.say(func(words []string, reply string) []byte {
				if words[0] == "EVALSHA" && len(words) > 6 {
					time.Sleep(delay(int(requested.Add(1)))) // a network delay
				}
				return []byte(reply)
			})
			for n := range keys {
				a.get(strconv.Itoa(n), "of a")
			}
			if s := a.level.Stats(); s.Hits < keys*3/4 || !s.Used {
				t.Errorf("counts %+v", s)
			}
		})
	}
}

// A server that rejects writes is not used, and that is reported: at the start of urnd, and when the server
// becomes read-only.
func TestReadOnlyServer(t *testing.T) {
	server := testserver.StartRedis(t)
	main := testserver.StartRedis(t)
	a := used(t, server.Addr(), nil)
	host, port, _ := strings.Cut(main.Addr(), ":")
	server.Do("REPLICAOF", host, port)
	defer server.Do("REPLICAOF", "NO", "ONE")
	a.get("key", "of a") // requests a lease
	b := newInstance(t, server.Addr(), nil)
	for _, i := range []*instance{a, b} {
		reported := false
		until(t, func() bool {
			select {
			case err := <-i.reports:
				reported = reported || err != nil && strings.Contains(err.Error(), "replica")
			default:
			}
			return reported && !i.level.Stats().Used
		})
	}
	for _, i := range []*instance{a, b} { // detected by probes
		before := i.level.Stats().Failures
		i.await(func(s valkey.Stats) bool { return s.Failures > before+3 && !s.Used })
	}
}

// Alone is true for the only instance that uses a cache, and false for instances that share it.
func TestAlone(t *testing.T) {
	server := testserver.StartRedis(t)
	started := time.Now()
	fast := func(c *valkey.Config) {
		c.Now = func() time.Time { return started.Add(100 * time.Since(started)) } // a minute is 600 ms
	}
	a, b, c := used(t, server.Addr(), fast), used(t, server.Addr(), fast), used(t, server.Addr(), fast)
	c.level.Join(map[string]string{"test": "2", "other": "1"})
	until(t, func() bool { return c.level.Standalone()["test"] })
	if a.level.Standalone()["test"] || b.level.Standalone()["test"] {
		t.Errorf("the instances that share: %v, %v", a.level.Standalone(), b.level.Standalone())
	}
	b.level.Close()
	until(t, func() bool { return a.level.Standalone()["test"] })
	if alone := b.level.Standalone(); alone != nil {
		t.Errorf("one that has ended: %v", alone)
	}
}
