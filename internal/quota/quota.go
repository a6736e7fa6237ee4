// Package quota bounds what clients may have of the things that run out: concurrent operations (Semaphore, Limit), memory
// (Memory), requests a second (Rate), places in a queue (Queues) and connections, the idle ones of which may be closed
// for others (Pool). Each thing that runs out has an instance of its own, so that none starves another. What is for
// clients who have shown who they are has parts by that (Shares).
//
// All others know a client by the same key: its address, and with IPv6 its /64 network, too. One host may have any
// number of the addresses of such a network, and neighbours may share it, so a network has a larger bound than an address.
// What is known of a client is forgotten only where it is idle, or, where memory is bounded and none is, for the client of
// which least is known. What is known of others stays.
package quota

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
)

// ErrBusy is the error of a limit that is reached, where it has no error of its own.
var ErrBusy = errors.New("too many requests are running")

// networkBits is the length of the prefix of an IPv6 network (RFC 4291 section 2.5.4).
const networkBits = 64

// Network returns the address that identifies a client where clients are told apart, and not their addresses: with IPv6
// the first address of its /64 network, else the address itself. The zero value has none, and is returned.
func Network(client netip.Addr) netip.Addr {
	address, network := keys(client)
	if network.IsValid() {
		return network.Addr()
	}
	return address.Addr()
}

// keys returns the keys of a client in tables: that of its address, and that of its network, which is the zero value
// without IPv6. IPv4-mapped addresses are IPv4 (RFC 4291 section 2.5.5.2), and zones do not matter.
func keys(client netip.Addr) (address, network netip.Prefix) {
	client = client.Unmap()
	address = netip.PrefixFrom(client, client.BitLen())
	if client.Is6() {
		network = netip.PrefixFrom(client, networkBits).Masked()
	}
	return address, network
}

// Limit is a limit of concurrent operations, of which each client has a part. It is safe for concurrent use.
type Limit struct {
	Semaphore Semaphore
	Clients   *Clients // nil bounds no client
	Busy      error    // where the semaphore is at its capacity; nil is ErrBusy
}

// PerClient says how much of a limit one client may have.
type PerClient struct {
	Percent       int   // of an address; 100 is no bound
	NetworkFactor int   // how many times that a network may have; 0 is once
	Busy          error // for a client that has as much
}

// Resized returns a limit of n operations. What is unchanged is that of l, with what clients hold, so that a new
// configuration does not double a limit.
func (l Limit) Resized(n int, per PerClient) Limit {
	l.Semaphore = l.Semaphore.Resized(n)
	if per.Percent == 100 {
		l.Clients = nil
		return l
	}
	address := max(n*per.Percent/100, 1)
	network := address * max(per.NetworkFactor, 1)
	if l.Clients != nil {
		if oldAddress, oldNetwork := l.Clients.Bounds(); oldAddress == address && oldNetwork == network {
			return l
		}
	}
	l.Clients = NewClients(address, network, per.Busy)
	return l
}

// WithBusy returns the same limit with another error where the semaphore is at its capacity.
func (l Limit) WithBusy(busy error) Limit {
	l.Busy = busy
	return l
}

// Acquire takes a permit for a client without waiting or allocating. The zero value of a client has no bound of its own.
// The error is Busy, or that of Clients. The caller must release the permit, unless there is an error.
func (l Limit) Acquire(client netip.Addr) (Permit, error) { return l.acquire(client, 1) }

// Wait is Acquire, but waits until the semaphore has a place, in the order of the callers. A client does not wait for what
// it has itself: the error is immediately that of Clients. Where ctx ends before, the error is Busy.
func (l Limit) Wait(ctx context.Context, client netip.Addr) (Permit, error) {
	p, err := l.Clients.acquire(client, 1)
	if err != nil {
		return Permit{}, err
	}
	if l.Semaphore.Acquire(ctx) != nil {
		p.Release()
		return Permit{}, l.busy()
	}
	p.semaphore = l.Semaphore
	return p, nil
}

// acquire takes so many units in one permit, or none.
func (l Limit) acquire(client netip.Addr, units int) (Permit, error) {
	p, err := l.Clients.acquire(client, units)
	if err != nil {
		return Permit{}, err
	}
	for taken := range units {
		if !l.Semaphore.TryAcquire() {
			l.Semaphore.release(taken)
			p.Release()
			return Permit{}, l.busy()
		}
	}
	p.semaphore = l.Semaphore
	return p, nil
}

func (l Limit) busy() error { return cmp.Or(l.Busy, ErrBusy) }

// Permit is what a client holds of a limit. The zero value is nothing.
type Permit struct {
	semaphore Semaphore // nil where only the client is bounded
	clients   *Clients
	client    netip.Addr
	units     int
}

// Release returns the permit. It must be called once.
func (p Permit) Release() {
	if p.semaphore != nil {
		p.semaphore.release(p.units)
	}
	p.clients.release(p.client, p.units)
}
