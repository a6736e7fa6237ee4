package quota

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// setClock is a clock that a test sets.
type setClock struct{ at time.Duration }

func (c *setClock) now() time.Time { return time.Unix(1_800_000_000, int64(c.at)) }

func ipv4(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

// TestRateRemembersSomeClients checks that the table is bounded. If it is full, a new client replaces one
// entry, preferably an idle one.
func TestRateRemembersSomeClients(t *testing.T) {
	c := new(setClock)
	r := NewRate(1, 1, c.now)
	for n := range maxRated {
		if !r.Allow(ipv4(n)) {
			t.Fatalf("client %d is refused", n)
		}
	}
	if len(r.clients) != maxRated || r.Allow(ipv4(7)) {
		t.Errorf("%d clients are remembered", len(r.clients))
	}
	const more = 100
	for n := range more {
		if !r.Allow(ipv4(maxRated + n)) {
			t.Errorf("client %d is refused", maxRated+n)
		}
	}
	forgotten := 0
	for n := range maxRated + more {
		if r.clients[netip.PrefixFrom(ipv4(n), 32)] == nil {
			forgotten++
		}
	}
	if len(r.clients) != maxRated || forgotten != more {
		t.Errorf("%d clients are remembered, and %d forgotten", len(r.clients), forgotten)
	}
	c.at = time.Second
	busy := ipv4(maxRated + more)
	if !r.Allow(busy) {
		t.Error("a new client is refused")
	}
	for n := range maxRated / 2 {
		r.Allow(ipv4(2*maxRated + n))
	}
	if r.Allow(busy) {
		t.Error("a client that has sent something is forgotten before those that have not")
	}
}

// TestRateOfNetworks checks the rates of an IPv6 address and its /64 network: the rate of the network exceeds
// that of an address, so neighbors can share it, and a host with many addresses cannot exceed it. A request
// beyond the limit of its address does not count for the network.
func TestRateOfNetworks(t *testing.T) {
	c := new(setClock)
	r := NewRate(2, 2, c.now)
	send := func(client string, times, want int) {
		t.Helper()
		allowed := 0
		for range times {
			if r.Allow(netip.MustParseAddr(client)) {
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
	send("::ffff:192.0.2.1", 9, 0)
	for i := range 1000 {
		r.Allow(netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 8: byte(i >> 8), 9: byte(i), 15: 9}))
	}
	if got := len(r.clients); got > 8 {
		t.Errorf("a network that may send nothing has %d addresses remembered", got)
	}
	c.at = time.Second
	send("2001:db8::4", 9, 2)
}

// TestForgetClearsOneClient checks that a new client replaces at most one entry, that this is an idle one
// if any is, and that all other entries are unchanged.
func TestForgetClearsOneClient(t *testing.T) {
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 1))
		c := new(setClock)
		r := NewRate(4, 2, c.now)
		r.most = 16
		for range 1000 {
			c.at += time.Duration(random.IntN(int(20 * time.Millisecond)))
			client := ipv4(random.IntN(24))
			if random.IntN(2) == 0 {
				client = netip.AddrFrom16([16]byte{0x20, 1, 7: byte(random.IntN(4)), 15: byte(random.IntN(4))})
			}
			before := make(map[netip.Prefix]time.Time)
			for key, known := range r.clients {
				before[key] = known.until
			}
			r.Allow(client)
			address, network := keys(client)
			added := 0
			for _, key := range []netip.Prefix{address, network} {
				if _, known := before[key]; !known && r.clients[key] != nil {
					added++
				}
			}
			forgotten, wasActive := 0, false
			for key, until := range before {
				now := r.clients[key]
				switch {
				case now == nil:
					forgotten++
					wasActive = wasActive || until.After(c.now())
				case key != address && key != network && !now.until.Equal(until):
					t.Fatalf("a request of %s changes the state of %s", client, key)
				}
			}
			for key, known := range r.clients {
				if wasActive && !known.until.After(c.now()) {
					t.Fatalf("an active client is forgotten, where %s is idle", key)
				}
			}
			if len(r.clients) > r.most || len(r.idle) != len(r.clients) || len(before)+added < len(r.clients) ||
				forgotten > 2 {
				t.Fatalf("%d are remembered, %d in order, %d are forgotten for %d", len(r.clients), len(r.idle),
					forgotten, added)
			}
		}
	}
}

// BenchmarkRate measures a request while the table is full.
func BenchmarkRate(b *testing.B) {
	r := NewRate(1000, 4, time.Now)
	for n := range maxRated {
		r.Allow(ipv4(n))
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n += 7919
		r.Allow(ipv4(n % maxRated))
	}
}
