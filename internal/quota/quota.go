// Package quota limits the resources that clients may use: concurrent operations (Semaphore, Limit), memory
// (Memory), request rates (Rate), operations per key (Queues, KeyedLimit) and connections, of which idle ones are
// evicted (Pool). A caller passes in the address of a client, or for KeyedLimit and Queues a key such as an
// authenticated identity; it receives a permit, a reservation or a member to release, or an error such as
// ErrBusy. Each resource has its own instance, so that exhausting one does not affect another.
//
// Limits by address use the address of the client and, with IPv6, its /64 network (RFC 4291 section 2.5.4). One
// host can use any number of addresses of such a network, but neighbors may share it, so the limit of a network
// is larger than that of an address. Entries in these tables are removed only when their client is idle. If a
// table of bounded size is full of active clients, the entry with the least information is replaced; other
// entries are unaffected.
package quota

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
)

// ErrBusy is the default error of an exhausted limit.
var ErrBusy = errors.New("too many concurrent requests")

// networkBits is the prefix length of an IPv6 network (RFC 4291 section 2.5.4).
const networkBits = 64

// Network returns the address that identifies a client independently of its interface identifier: with IPv6 the
// first address of its /64 network, otherwise the address itself. For the zero value it returns the zero value.
func Network(client netip.Addr) netip.Addr {
	address, network := keys(client)
	if network.IsValid() {
		return network.Addr()
	}
	return address.Addr()
}

// keys returns the table keys of a client: its address and its network, which is the zero value without IPv6.
// IPv4-mapped addresses are treated as IPv4 (RFC 4291 section 2.5.5.2); zones are ignored.
func keys(client netip.Addr) (address, network netip.Prefix) {
	client = client.Unmap()
	address = netip.PrefixFrom(client, client.BitLen())
	if client.Is6() {
		network = netip.PrefixFrom(client, networkBits).Masked()
	}
	return address, network
}

// Limit is a concurrency limit with a quota for each client. It is safe for concurrent use.
type Limit struct {
	Semaphore Semaphore
	Clients   *ClientLimits // nil: no limit per client
	Busy      error         // error of an exhausted semaphore; nil is ErrBusy
}

// ClientQuota is the quota of one client as a part of a limit.
type ClientQuota struct {
	Percent       int   // quota of an address in percent; 100 is unlimited
	NetworkFactor int   // quota of a network as a multiple of that of an address; 0 is 1
	Busy          error // error for a client at its quota
}

// Resized returns a limit of n operations. Unchanged parts are shared with l, including their permits, so that
// a reload of the configuration does not double a limit.
func (l Limit) Resized(n int, per ClientQuota) Limit {
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
	l.Clients = NewClientLimits(address, network, per.Busy)
	return l
}

// WithBusy returns the same limit with another error for an exhausted semaphore.
func (l Limit) WithBusy(busy error) Limit {
	l.Busy = busy
	return l
}

// Acquire takes a permit for a client without waiting or allocating. The zero value of a client has no quota.
// The error is Busy, or that of Clients. Unless it returns an error, the caller must release the permit.
func (l Limit) Acquire(client netip.Addr) (Permit, error) { return l.acquire(client, 1) }

// Wait is like Acquire, but waits for the semaphore in FIFO order. It does not wait for the client's own quota:
// if that is exhausted, it returns the error of Clients immediately. If ctx ends first, the error is Busy.
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

// acquire takes all units in one permit, or none.
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

// Permit is a client's part of a limit. The zero value holds nothing.
type Permit struct {
	semaphore Semaphore // nil if only Clients has a limit
	clients   *ClientLimits
	client    netip.Addr
	units     int
}

// Release releases the permit. It must be called once.
func (p Permit) Release() {
	if p.semaphore != nil {
		p.semaphore.release(p.units)
	}
	p.clients.release(p.client, p.units)
}
