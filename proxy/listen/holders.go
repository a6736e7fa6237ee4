package listen

import (
	"container/heap"
	"net/netip"
)

// The connections of a limit are in queues: networks by how many connections they have, in each of these its addresses
// likewise, and of each address those of its connections that may wait for a request, by since when. So the one to be
// closed is found in logarithmic time, and a request costs no lock: a connection has its place by when it was looked at
// last, and is put right when its turn comes. One that is in use then is outside until it waits again (counted.rest).

// address is a client, network its /64 or, of IPv4, the client alone. They exist as long as they have connections.
type (
	address struct {
		key     netip.Addr
		network *network
		open    int
		waiting queue[*counted]
		place   int
	}
	network struct {
		key       netip.Addr
		open      int
		addresses queue[*address] // those of which a connection may be closed
		place     int
	}
)

func (a *address) before(b *address) bool { return a.open > b.open }
func (a *address) at() *int               { return &a.place }
func (n *network) before(m *network) bool { return n.open > m.open }
func (n *network) at() *int               { return &n.place }

// self returns the address itself where one of its connections may be closed, and nil otherwise.
func (a *address) self() *address {
	if len(a.waiting) == 0 {
		return nil
	}
	return a
}

// largestAddress returns the address with most connections, of those of which one may be closed; nil for none.
func (n *network) largestAddress() *address {
	if len(n.addresses) == 0 {
		return nil
	}
	return n.addresses[0]
}

// largestAddress returns that of the largest network.
func (l *ConnectionLimit) largestAddress() *address {
	if len(l.largest) == 0 {
		return nil
	}
	return l.largest[0].largestAddress()
}

// add counts a connection, remove does not any more, and arrange puts the queues in order; l.mu is held.
func (l *ConnectionLimit) add(h *counted, client netip.Addr) {
	a := l.clients[client]
	if a == nil {
		key := clientNetwork(client)
		n := l.networks[key]
		if n == nil {
			n = &network{key: key, place: outside}
			l.networks[key] = n
		}
		a = &address{key: client, network: n, place: outside}
		l.clients[client] = a
	}
	h.address = a
	h.seen = h.since.Load()
	put(&a.waiting, h, true)
	l.count(a, 1)
}

func (l *ConnectionLimit) remove(h *counted) {
	a := h.address
	h.address = nil
	put(&a.waiting, h, false)
	l.count(a, -1)
}

func (l *ConnectionLimit) count(a *address, more int) {
	l.open += more
	a.open += more
	a.network.open += more
	l.arrange(a)
	if a.open == 0 {
		delete(l.clients, a.key)
	}
	if a.network.open == 0 {
		delete(l.networks, a.network.key)
	}
	if more < 0 && l.open == l.limits.Connections-1 {
		l.signal()
	}
}

func (l *ConnectionLimit) arrange(a *address) {
	put(&a.network.addresses, a, len(a.waiting) > 0)
	put(&l.largest, a.network, len(a.network.addresses) > 0)
}

// evict closes the connection that has waited longest of the address that next returns, until that is nil: it reports
// whether there was one; l.mu is held.
func (l *ConnectionLimit) evict(next func() *address) bool {
	var unread []*counted // what has come is about to be read: they wait no longer
	defer func() {
		for _, h := range unread {
			put(&h.address.waiting, h, true)
			l.arrange(h.address)
		}
	}()
	for a := next(); a != nil; a = next() {
		h := a.waiting[0]
		since := h.since.Load()
		switch {
		case since == active:
			h.wanted.Store(true)
			if h.since.Load() == active {
				put(&a.waiting, h, false)
			}
		case since != h.seen:
			h.seen = since
			put(&a.waiting, h, true)
		case h.conn.hasUnread():
			h.wanted.Store(true)
			put(&a.waiting, h, false)
			unread = append(unread, h)
		case h.since.CompareAndSwap(since, evicted):
			l.remove(h)
			h.conn.wake()
			return true
		}
		l.arrange(a)
	}
	return false
}

// ranked has a place in a queue, outside where it is in none.
type ranked[T any] interface {
	before(other T) bool
	at() *int
}

const outside = -1

// queue is a heap whose members know their place.
type queue[T ranked[T]] []T

// put makes an item a member of a queue or not, and puts it in order.
func put[T ranked[T]](q *queue[T], item T, member bool) {
	switch place := *item.at(); {
	case member && place == outside:
		heap.Push(q, item)
	case member:
		heap.Fix(q, place)
	case place != outside:
		heap.Remove(q, place)
	}
}

// Len implements heap.Interface, as do the others.
func (q queue[T]) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue[T]) Less(i, j int) bool { return q[i].before(q[j]) }

// Swap implements heap.Interface.
func (q queue[T]) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	*q[i].at(), *q[j].at() = i, j
}

// Push implements heap.Interface.
func (q *queue[T]) Push(x any) {
	item, _ := x.(T)
	*item.at() = len(*q)
	*q = append(*q, item)
}

// Pop implements heap.Interface.
func (q *queue[T]) Pop() any {
	last := len(*q) - 1
	item := (*q)[last]
	var none T
	(*q)[last] = none
	*q = (*q)[:last]
	*item.at() = outside
	return item
}
