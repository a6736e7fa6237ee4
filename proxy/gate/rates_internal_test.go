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

// The number of remembered clients is bounded, and clients that have just sent something
// are not removed while others can be.
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
	clock.set(time.Second)
	busy := from(7)
	if !r.allows(busy) || !r.allows(from(maxClients)) || r.allows(busy) {
		t.Error("a client that sends is forgotten with those that do not")
	}
	if len(r.clients) != 2 {
		t.Errorf("%d clients are remembered, of which 2 sent something", len(r.clients))
	}
	for n := range 3 * maxClients { // none of them can be forgotten before the others
		r.allows(from(n))
		if len(r.clients) > maxClients {
			t.Fatalf("%d clients are remembered", len(r.clients))
		}
	}
}

// Of IPv6 an address has a rate, and its /64 a larger one, also for guesses: a neighbour leaves some of it, and a host with
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

func TestGuessesOfNetworks(t *testing.T) {
	clock := new(stopwatch)
	g := NewGuesses(clock.now)
	at := func(host byte) netip.Addr { return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 15: host}) }
	for range maxGuesses {
		g.Wrong(at(1), "")
	}
	if !g.Stopped(at(1), "") || g.Stopped(at(2), "") {
		t.Error("the guesses of an address stop its neighbour, or not itself")
	}
	for host := range byte(100) {
		g.Wrong(at(host+2), "")
	}
	if !g.Stopped(at(200), "") {
		t.Error("a host with many addresses goes on guessing")
	}
}

// Guesses that are compared at the same time tell no more than one after the other: who has sent too many learns neither which
// were wrong nor which was right.
func TestGuessesAtTheSameTime(t *testing.T) {
	clock := new(stopwatch)
	client := netip.MustParseAddr("192.0.2.1")
	for _, wasRight := range []bool{false, true} {
		g := NewGuesses(clock.now)
		if wasRight && !g.Right(client, "a") {
			t.Fatal("the first one is stopped")
		}
		const many = 100
		for range many {
			if g.Stopped(client, "a") {
				t.Fatal("stopped before the first one is known to be wrong")
			}
		}
		told := 0
		for range many {
			if g.Wrong(client, "a") {
				told++
			}
		}
		if told != maxGuesses || g.Right(client, "a") {
			t.Errorf("right before: %t: %d of %d are answered, or the right one", wasRight, told, many)
		}
	}
}

// Whoever has a password does not make urnd forget where those of others were right: neither by the addresses of its network
// nor, at the bound, all at once.
func TestKnownAccountsOfOthers(t *testing.T) {
	var a accounts
	victim, host := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	a.add(victim, "victim")
	for range 2 * maxAccounts {
		host = host.Next()
		a.add(host, "user")
	}
	if !a.has(victim, "victim") || !a.has(host, "user") || a.has(host.Prev(), "user") || len(a.all) != 2 {
		t.Errorf("%d are known", len(a.all))
	}
	host = netip.MustParseAddr("198.18.0.1")
	for range maxAccounts + 1 {
		host = host.Next()
		a.add(host, "user")
	}
	if len(a.all) != maxAccounts {
		t.Errorf("%d are known at the bound", len(a.all))
	}
}
