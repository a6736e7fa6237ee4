package quota

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// holder is an Evictable for tests.
type holder struct{ unread, evicted bool }

func (h *holder) Unread() bool    { return h.unread }
func (h *holder) Evict(time.Time) { h.evicted = true }

// ticks is a clock that advances by a nanosecond with each reading.
type ticks struct{ now int64 }

func (c *ticks) read() time.Time { c.now++; return time.Unix(0, c.now) }

// ended returns a closed channel.
func ended() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// TestEvictionMatchesModel compares evictions with a linear search after random operations: the evicted
// member is the longest idle one of the address with the most members in the network with the most members.
func TestEvictionMatchesModel(t *testing.T) {
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 23))
		p := NewPool(PoolLimits{Total: 40}, new(ticks).read)
		members := map[*Member]netip.Addr{}
		for step := range 2000 {
			switch random.IntN(4) {
			case 0, 1:
				client := netip.MustParseAddr(fmt.Sprintf("2001:db8:0:%d::%d", random.IntN(4), random.IntN(4)))
				if random.IntN(3) == 0 {
					client = netip.MustParseAddr(fmt.Sprintf("192.0.2.%d", random.IntN(4)))
				}
				full := p.Len() == 40
				m := p.Add(client, new(holder), ended())
				var out *Member
				for other := range members {
					if other.since.Load() == evicted {
						out = other
					}
				}
				if full != (out != nil) && p.Len() <= 40 {
					t.Fatalf("at the limit: %v, evicted: %v", full, out)
				}
				if out != nil {
					checkModel(t, members, out)
					delete(members, out)
				}
				members[m] = client
			case 2:
				for m := range members {
					if m.Use(); random.IntN(4) > 0 {
						m.Idle()
					}
					break
				}
			case 3:
				for m := range members {
					if random.IntN(3) == 0 {
						m.Remove()
						delete(members, m)
					}
					break
				}
			}
			if step%20 == 0 {
				checkCounts(t, p, members)
			}
		}
		for m := range members {
			m.Remove()
			m.Remove()
		}
		if len(p.addresses)+len(p.networks)+len(p.largest)+p.Len() > 0 {
			t.Fatalf("something is left: %d, %d, %d, %d", len(p.addresses), len(p.networks), len(p.largest), p.Len())
		}
	}
}

// checkModel compares the evicted member with the model.
func checkModel(t *testing.T, members map[*Member]netip.Addr, out *Member) {
	t.Helper()
	networks, clients := map[netip.Addr]int{}, map[netip.Addr]int{}
	for _, client := range members {
		networks[Network(client)]++
		clients[client]++
	}
	own := members[out]
	for m, client := range members {
		since := m.since.Load()
		network, ownNetwork := networks[Network(client)], networks[Network(own)]
		switch {
		case since == active || m == out:
		case network > ownNetwork,
			Network(client) == Network(own) && clients[client] > clients[own],
			client == own && since < out.seen:
			t.Fatalf("%s with %d/%d was evicted, not %s with %d/%d", own, ownNetwork, clients[own], client, network,
				clients[client])
		}
	}
}

// checkCounts checks the number of members of each client, and that deleting one entry leaves others unchanged.
func checkCounts(t *testing.T, p *Pool, members map[*Member]netip.Addr) {
	t.Helper()
	counts := map[netip.Prefix]int{}
	for _, client := range members {
		address, _ := keys(client)
		counts[address]++
	}
	if p.Len() != len(members) || len(p.addresses) != len(counts) {
		t.Fatalf("%d members of %d clients, and %d of %d are counted", len(members), len(counts), p.Len(),
			len(p.addresses))
	}
	for key, want := range counts {
		if a := p.addresses[key]; a == nil || a.total != want {
			t.Fatalf("%s has %d members, and is %+v", key, want, a)
		}
	}
}

// TestEvictionLeavesUnreadInput checks that a member with unread input is not evicted while others are idle.
func TestEvictionLeavesUnreadInput(t *testing.T) {
	p := NewPool(PoolLimits{Total: 2}, new(ticks).read)
	client := netip.MustParseAddr("192.0.2.1")
	first, second := &holder{unread: true}, new(holder)
	p.Add(client, first, nil)
	p.Add(client, second, nil)
	p.Add(netip.MustParseAddr("192.0.2.2"), new(holder), nil)
	if first.evicted || !second.evicted {
		t.Error("a member with input is evicted, where another one is idle")
	}
}

// TestPoolBoundsClients checks that a client or network at its limit loses one of its own idle members and none
// of others. If all its members are in use, it gets no more. Exempt clients, and those without an address, have
// no limit of their own.
func TestPoolBoundsClients(t *testing.T) {
	exempt := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	p := NewPool(PoolLimits{Total: 100, PerAddress: 2, PerNetwork: 3, Exempt: exempt}, new(ticks).read)
	add := func(client string, use bool) (*Member, *holder) {
		h := new(holder)
		var addr netip.Addr
		if client != "" {
			addr = netip.MustParseAddr(client)
		}
		m := p.Add(addr, h, nil)
		if use && m != nil {
			m.Use()
		}
		return m, h
	}
	_, other := add("192.0.2.2", false)
	idle, idleHolder := add("192.0.2.1", false)
	add("::ffff:192.0.2.1", true)
	if m, _ := add("192.0.2.1", true); m == nil || idle.since.Load() != evicted || !idleHolder.evicted || idle.Use() {
		t.Error("an idle one of the client is not evicted")
	}
	if m, _ := add("192.0.2.1", true); m != nil {
		t.Error("a third one in use")
	}
	add("2001:db8::1", true)
	add("2001:db8::2", true)
	_, neighbour := add("2001:db8::3", false)
	if m, _ := add("2001:db8::4", true); m == nil || !neighbour.evicted {
		t.Error("an idle one of the network is not evicted")
	}
	if m, _ := add("2001:db8::5", true); m != nil {
		t.Error("a fourth one of a network, all of which are in use")
	}
	if m, _ := add("2001:db8:0:1::5", true); m == nil {
		t.Error("another network has nothing")
	}
	for range 5 {
		for _, client := range []string{"10.0.0.1", ""} {
			if m, _ := add(client, true); m == nil {
				t.Errorf("%q has a bound", client)
			}
		}
	}
	moved, _ := add("10.0.0.1", true)
	if moved.Move(netip.MustParseAddr("192.0.2.1")) {
		t.Error("a third one in use, as whose it turned out to be")
	}
	if !moved.Move(netip.MustParseAddr("192.0.2.9")) || p.addresses[netip.MustParsePrefix("192.0.2.9/32")].total != 1 {
		t.Error("another client has nothing")
	}
	if other.evicted {
		t.Error("one of another client is evicted")
	}
	var none *Member
	if !none.Use() || !none.Move(netip.Addr{}) {
		t.Error("nil has a bound")
	}
	none.Idle()
	none.Remove()
}

// TestPoolWaits checks that a new member waits while all are in use, until one becomes idle or is removed, the
// limits change, or the caller stops waiting.
func TestPoolWaits(t *testing.T) {
	client := netip.MustParseAddr("192.0.2.1")
	for name, end := range map[string]func(p *Pool, m *Member, h *holder, done chan struct{}){
		"one is idle":      func(_ *Pool, m *Member, _ *holder, _ chan struct{}) { m.Idle() },
		"one ends":         func(_ *Pool, m *Member, _ *holder, _ chan struct{}) { m.Remove() },
		"more are allowed": func(p *Pool, _ *Member, _ *holder, _ chan struct{}) { p.Change(PoolLimits{Total: 2}) },
		"the caller ends":  func(_ *Pool, _ *Member, _ *holder, done chan struct{}) { close(done) },
		"its input is read": func(p *Pool, _ *Member, h *holder, _ chan struct{}) {
			p.mu.Lock()
			defer p.mu.Unlock()
			h.unread = false
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, done, h := NewPool(PoolLimits{Total: 1}, time.Now), make(chan struct{}), new(holder)
				first := p.Add(client, h, done)
				if h.unread = name == "its input is read"; !h.unread {
					first.Use()
				}
				added := make(chan *Member, 1)
				go func() { added <- p.Add(client, new(holder), done) }()
				synctest.Wait()
				if len(added) > 0 || p.Idle() > 1 {
					t.Fatal("it does not wait")
				}
				end(p, first, h, done)
				if m := <-added; m == nil {
					t.Error("it is refused")
				}
			})
		})
	}
}

// BenchmarkAddAtLimit measures adding a member at the limit for several sizes of the pool. Either all members
// are idle, or all but one of each address are in use.
func BenchmarkAddAtLimit(b *testing.B) {
	for _, total := range []int{1 << 10, 1 << 13, 1 << 16} {
		for _, busy := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d, busy %v", total, busy), func(b *testing.B) {
				p := NewPool(PoolLimits{Total: total}, time.Now)
				for i := range total {
					m := p.Add(netip.AddrFrom4([4]byte{10, 0, 0, byte(i % 9)}), new(holder), nil)
					if busy && i > 9 {
						m.Use()
					}
				}
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					n++
					p.Add(netip.AddrFrom4([4]byte{10, 1, byte(n >> 8), byte(n)}), new(holder), nil)
				}
			})
		}
	}
}

// BenchmarkUse measures the overhead of the pool for a request: the connection is in use, then idle again.
func BenchmarkUse(b *testing.B) {
	p := NewPool(PoolLimits{Total: 1 << 10}, time.Now)
	b.RunParallel(func(pb *testing.PB) {
		m := p.Add(netip.MustParseAddr("192.0.2.1"), new(holder), nil)
		for pb.Next() {
			m.Use()
			m.Idle()
		}
	})
}
