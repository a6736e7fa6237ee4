package resolver

import (
	"cmp"
	"net/netip"
	"sync"
)

// Shares bound how much of a limit one client holds, so that none can take all of it. Of IPv6 a client is an address, and
// the addresses of a /64 network, any number of which one host may have, have a larger share together. A nil *Shares
// bounds nothing. They are safe for concurrent use.
type Shares struct {
	most     int
	networks int
	busy     error

	mu   sync.Mutex
	held map[netip.Prefix]int
}

// NewShares returns Shares of at most a number of slots for each address, and of another one for each network. busy is the
// error for a client that has as many.
func NewShares(most, networks int, busy error) *Shares {
	return &Shares{most: most, networks: networks, busy: busy, held: make(map[netip.Prefix]int)}
}

// Bounds returns the number of slots that an address may have, and a network.
func (s *Shares) Bounds() (most, networks int) { return s.most, s.networks }

// ClientAddress returns the address that stands for a client where several are to be told apart: of IPv6 that of its
// ClientNetwork, whose addresses may be those of one host.
func ClientAddress(client netip.Addr) netip.Addr {
	if network, ok := ClientNetwork(client); ok {
		return network.Addr()
	}
	return client
}

// ClientNetwork returns the network that has a share of its own: of an address of IPv6 its /64.
func ClientNetwork(client netip.Addr) (netip.Prefix, bool) {
	if !client.Is6() || client.Is4In6() {
		return netip.Prefix{}, false
	}
	network, err := client.WithZone("").Prefix(64)
	return network, err == nil
}

// Acquire takes a slot of the share of a client, the zero value of which has no share. The
// caller must call release once, unless there is an error.
func (s *Shares) Acquire(client netip.Addr) (release func(), err error) {
	held, err := s.hold(client)
	if err != nil {
		return nil, err
	}
	return held.release, nil
}

// share are the slots that a client has of its shares; the zero value are none.
type share struct {
	of               *Shares
	address, network netip.Prefix
}

func (h share) release() {
	if h.of != nil {
		h.of.release(h.address, h.network)
	}
}

// hold is Acquire.
func (s *Shares) hold(client netip.Addr) (share, error) {
	if s == nil || !client.IsValid() {
		return share{}, nil
	}
	address := netip.PrefixFrom(client, client.BitLen())
	network, has := ClientNetwork(client)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[address] >= s.most || has && s.held[network] >= s.networks {
		return share{}, s.busy
	}
	s.held[address]++
	if has {
		s.held[network]++
	}
	return share{s, address, network}, nil
}

// release returns a slot of each share; that of no network is not held.
func (s *Shares) release(address, network netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, share := range [...]netip.Prefix{address, network} {
		if s.held[share]--; s.held[share] <= 0 {
			delete(s.held, share)
		}
	}
}

// Quota is a limit of concurrent operations, of which each client has a share.
type Quota struct {
	Slots  Slots
	Shares *Shares
	Busy   error // where no slot is free; nil is ErrBusy
}

// Acquire takes a slot without waiting. The caller must call release once, unless there is an
// error.
func (q Quota) Acquire(client netip.Addr) (release func(), err error) {
	held, err := q.Hold(client)
	if err != nil {
		return nil, err
	}
	return held.Release, nil
}

// Slot is one of a Quota that was taken.
type Slot struct {
	slots Slots
	share share
}

// Release returns the slot. It must be called once.
func (h Slot) Release() {
	h.slots.Release()
	h.share.release()
}

// Hold is Acquire without an allocation.
func (q Quota) Hold(client netip.Addr) (Slot, error) {
	held, err := q.Shares.hold(client)
	if err != nil {
		return Slot{}, err
	}
	if !q.Slots.TryAcquire() {
		held.release()
		return Slot{}, cmp.Or(q.Busy, ErrBusy)
	}
	return Slot{q.Slots, held}, nil
}
