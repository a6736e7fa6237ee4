package gate

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// stopwatch is a clock that a test sets.
type stopwatch struct{ nanoseconds atomic.Int64 }

func (c *stopwatch) now() time.Time      { return time.Unix(1_800_000_000, c.nanoseconds.Load()) }
func (c *stopwatch) set(d time.Duration) { c.nanoseconds.Store(int64(d)) }

func TestRateIsExactAtOnce(t *testing.T) {
	clock := new(stopwatch)
	r := newRates(100, 100, 1, clock.now)
	var allowed atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 100 {
				if r.allows(netip.MustParseAddr("203.0.113.1")) {
					allowed.Add(1)
				}
			}
		})
	}
	clients.Wait()
	if got := allowed.Load(); got != 100 {
		t.Errorf("%d of 100 are allowed", got)
	}
}

// The number of remembered clients is bounded. Where all have sent something a new one takes the place of one of them, and not
// that of all; and rather of one that has sent nothing since.
func TestRateRemembersSomeClients(t *testing.T) {
	clock := new(stopwatch)
	r := newRates(1, 1, 1, clock.now)
	from := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}) }
	for n := range maxClients {
		if !r.allows(from(n)) {
			t.Fatalf("client %d is refused", n)
		}
	}
	if len(r.clients) != maxClients || r.allows(from(7)) {
		t.Errorf("%d clients are remembered", len(r.clients))
	}
	const more = 100
	for n := range more {
		if !r.allows(from(maxClients + n)) {
			t.Errorf("client %d is refused", maxClients+n)
		}
	}
	again := 0
	for n := range maxClients + more {
		if limiter := r.clients[netip.PrefixFrom(from(n), 32)]; limiter == nil {
			again++
		}
	}
	if len(r.clients) != maxClients || again != more {
		t.Errorf("%d clients are remembered, and %d forgotten", len(r.clients), again)
	}
	clock.set(time.Second)
	busy := from(maxClients + more)
	if !r.allows(busy) {
		t.Error("a new client is refused")
	}
	for n := range maxClients / 2 {
		r.allows(from(2*maxClients + n))
	}
	if r.allows(busy) {
		t.Error("a client that has sent something is forgotten before those that have not")
	}
}

// Of IPv6 an address has a rate, and its /64 a larger one: a neighbour leaves some of it, and a host with
// many addresses has no more. What an address may not send takes nothing from its network.
func TestRateOfNetworks(t *testing.T) {
	clock := new(stopwatch)
	r := newRates(2, 2, 2, clock.now)
	send := func(client string, times, want int) {
		t.Helper()
		allowed := 0
		for range times {
			if r.allows(netip.MustParseAddr(client)) {
				allowed++
			}
		}
		if allowed != want {
			t.Errorf("%s: %d of %d are allowed, want %d", client, allowed, times, want)
		}
	}
	send("2001:db8::1", 100, 2)
	send("2001:db8::2", 1, 1)
	send("2001:db8::3", 100, 1)
	send("2001:db8::4", 1, 0)
	send("2001:db8:0:1::1", 9, 2)
	send("192.0.2.1", 9, 2)
	for i := range 1000 {
		r.allows(netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 8: byte(i >> 8), 9: byte(i), 15: 9}))
	}
	if got := len(r.clients); got > 8 {
		t.Errorf("a network that may send nothing has %d addresses remembered", got)
	}
	clock.set(time.Second)
	send("2001:db8::4", 9, 2)
}
