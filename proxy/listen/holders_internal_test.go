package listen

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// fakeConn is woken where its limit closes it.
type fakeConn struct{ isUnread, isAwake bool }

func (c *fakeConn) hasUnread() bool { return c.isUnread }
func (c *fakeConn) wake()           { c.isAwake = true }

// fakeClock goes on by a nanosecond each time that it is read.
type fakeClock struct{ now int64 }

func (c *fakeClock) read() time.Time { c.now++; return time.Unix(0, c.now) }

// Whatever was opened, used and closed before, the connection that is closed is the one that a look at all of them
// finds: that which has waited longest, of the address with most connections in the network with most.
func TestEvictionIsThatOfAModel(t *testing.T) {
	closedAtOnce := make(chan struct{})
	close(closedAtOnce)
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 23))
		l := NewConnectionLimit(ConnectionLimits{Connections: 40}, new(fakeClock).read)
		open := map[*counted]netip.Addr{}
		for range 2000 {
			switch random.IntN(4) {
			case 0, 1:
				client := netip.MustParseAddr(fmt.Sprintf("2001:db8:0:%d::%d", random.IntN(4), random.IntN(4)))
				if random.IntN(3) == 0 {
					client = netip.MustParseAddr(fmt.Sprintf("192.0.2.%d", random.IntN(4)))
				}
				conn := new(fakeConn)
				atLimit := l.Open() == 40
				h := l.acquire(client, conn, closedAtOnce)
				var ended *counted
				for other := range open {
					if other.isEvicted() {
						ended = other
					}
				}
				if atLimit != (ended != nil) && l.Open() <= 40 {
					t.Fatalf("at the limit: %v, closed: %v", atLimit, ended)
				}
				if ended != nil {
					checkModel(t, open, ended)
					delete(open, ended)
				}
				open[h] = client
			case 2:
				for h := range open {
					if h.begin(); random.IntN(4) > 0 {
						h.rest()
					}
					break
				}
			case 3:
				for h := range open {
					if random.IntN(3) == 0 {
						l.release(h)
						delete(open, h)
					}
					break
				}
			}
			if l.Open() != len(open) {
				t.Fatalf("%d are open, %d counted", len(open), l.Open())
			}
		}
		for h := range open {
			l.release(h)
		}
		if len(l.clients)+len(l.networks)+len(l.largest)+l.Open() > 0 {
			t.Fatalf("something is left: %d, %d, %d, %d", len(l.clients), len(l.networks), len(l.largest), l.Open())
		}
	}
}

// checkModel compares the connection that was closed with the model.
func checkModel(t *testing.T, open map[*counted]netip.Addr, ended *counted) {
	t.Helper()
	networks, clients := map[netip.Addr]int{}, map[netip.Addr]int{}
	for _, client := range open {
		networks[clientNetwork(client)]++
		clients[client]++
	}
	own := open[ended]
	for h, client := range open {
		since := h.since.Load()
		network, ownNetwork := networks[clientNetwork(client)], networks[clientNetwork(own)]
		switch {
		case since == active || h == ended:
		case network > ownNetwork,
			clientNetwork(client) == clientNetwork(own) && clients[client] > clients[own],
			client == own && since < ended.seen:
			t.Fatalf("%s with %d/%d was closed, not %s with %d/%d", own, ownNetwork, clients[own], client, network, clients[client])
		}
	}
}

// What has come, and is not read yet, is not lost: its connection is not closed while others wait.
func TestEvictionLeavesWhatHasCome(t *testing.T) {
	l := NewConnectionLimit(ConnectionLimits{Connections: 2}, new(fakeClock).read)
	client := netip.MustParseAddr("192.0.2.1")
	first, second := &fakeConn{isUnread: true}, new(fakeConn)
	l.acquire(client, first, nil)
	l.acquire(client, second, nil)
	l.acquire(netip.MustParseAddr("192.0.2.2"), new(fakeConn), nil)
	if first.isAwake || !second.isAwake {
		t.Error("a connection with a request is closed, where another one waits")
	}
}

// BenchmarkAcceptAtLimit is the cost of a new connection at the limit, by how many there are: all wait, or all but one
// of each address are in use.
func BenchmarkAcceptAtLimit(b *testing.B) {
	for _, connections := range []int{1 << 10, 1 << 13, 1 << 16} {
		for _, busy := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d, busy %v", connections, busy), func(b *testing.B) {
				l := NewConnectionLimit(ConnectionLimits{Connections: connections}, time.Now)
				for i := range connections {
					h := l.acquire(netip.AddrFrom4([4]byte{10, 0, 0, byte(i % 9)}), new(fakeConn), nil)
					if busy && i > 9 {
						h.begin()
					}
				}
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					l.acquire(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), new(fakeConn), nil)
				}
			})
		}
	}
}

// BenchmarkWait is what a request costs for the limit: the octets of a request come, and the connection waits again.
func BenchmarkWait(b *testing.B) {
	l := NewConnectionLimit(ConnectionLimits{Connections: 1 << 10}, time.Now)
	b.RunParallel(func(p *testing.PB) {
		h := l.acquire(netip.MustParseAddr("192.0.2.1"), new(fakeConn), nil)
		for p.Next() {
			h.begin()
			h.rest()
		}
	})
}
