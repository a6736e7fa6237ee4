package quota

import (
	"context"
	"net/netip"
	"sync"
)

// MemoryUnit is the unit of a Memory in bytes. Sizes are rounded up to units, since many small reservations
// amount to as much memory as a large one.
const MemoryUnit = 64 << 10

// freeMemory is the size in bytes up to which a reservation needs no unit: the buffers of a connection have
// about this size.
const freeMemory = 4 << 10

// Memory limits reserved memory in units of MemoryUnit. A nil *Memory is unlimited. It is safe for concurrent
// use.
type Memory struct {
	limit   Limit
	waiters *waiters
}

// waiters notifies goroutines that wait for memory.
type waiters struct {
	sync.Mutex
	freed chan struct{} // closed when memory is released; nil if no goroutine waits
}

// NewMemory returns a Memory whose limit is in units.
func NewMemory(limit Limit) *Memory { return &Memory{limit, new(waiters)} }

// WithBusy returns the same memory with another error for an exhausted limit. m may be nil.
func (m *Memory) WithBusy(busy error) *Memory {
	if m == nil {
		return nil
	}
	return &Memory{m.limit.WithBusy(busy), m.waiters}
}

// Resized returns m if its limit in bytes and its limit per client are unchanged, and a new Memory otherwise. m
// may be nil.
func (m *Memory) Resized(bytes int64, per ClientQuota) *Memory {
	if m == nil {
		m = NewMemory(Limit{})
	}
	limit := m.limit.Resized(int(bytes/MemoryUnit), per)
	if limit.Clients == m.limit.Clients && cap(limit.Semaphore) == cap(m.limit.Semaphore) {
		return m
	}
	return &Memory{limit, m.waiters}
}

// Limit returns the limit in units.
func (m *Memory) Limit() Limit {
	if m == nil {
		return Limit{}
	}
	return m.limit
}

// Reservation is memory reserved for a client. The zero value reserves nothing. It is not safe for concurrent
// use.
type Reservation struct {
	memory *Memory
	client netip.Addr
	units  int
}

// Reserve reserves memory of this size in bytes, entirely or not at all, without waiting. A size above the
// maximum of one client is reduced to that maximum. Unless it returns an error, the caller must release the
// reservation.
func (m *Memory) Reserve(client netip.Addr, bytes int64) (Reservation, error) {
	r := Reservation{memory: m, client: client}
	err := r.Resize(bytes)
	return r, err
}

// Wait is like Reserve, but waits until the memory is available, even if the client itself holds it. If ctx
// ends first, it returns the error of the limit.
func (m *Memory) Wait(ctx context.Context, client netip.Addr, bytes int64) (Reservation, error) {
	for {
		freed := m.nextRelease()
		r, err := m.Reserve(client, bytes)
		if err == nil {
			return r, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return Reservation{}, err
		}
	}
}

// nextRelease returns a channel that is closed at the next release of memory; nil for an unlimited Memory.
func (m *Memory) nextRelease() <-chan struct{} {
	if m == nil {
		return nil
	}
	m.waiters.Lock()
	defer m.waiters.Unlock()
	if m.waiters.freed == nil {
		m.waiters.freed = make(chan struct{})
	}
	return m.waiters.freed
}

// Resize changes the size of the reservation, in bytes. After an error nothing is reserved.
func (r *Reservation) Resize(bytes int64) error {
	if r.memory == nil {
		return nil
	}
	units := r.memory.units(bytes)
	if units <= r.units {
		r.shrink(units)
		return nil
	}
	if err := r.memory.take(r.client, units-r.units); err != nil {
		r.shrink(0)
		return err
	}
	r.units = units
	return nil
}

// Release releases the memory. It may be called again.
func (r *Reservation) Release() { r.shrink(0) }

func (r *Reservation) shrink(units int) {
	if r.units <= units {
		return
	}
	r.memory.give(r.client, r.units-units)
	r.units = units
}

// take acquires units with the lock held: otherwise two callers could each get a part and both fail, although
// the memory suffices for one of them.
func (m *Memory) take(client netip.Addr, units int) error {
	m.waiters.Lock()
	defer m.waiters.Unlock()
	_, err := m.limit.acquire(client, units)
	return err
}

// give releases units and wakes all waiters.
func (m *Memory) give(client netip.Addr, units int) {
	m.waiters.Lock()
	defer m.waiters.Unlock()
	Permit{m.limit.Semaphore, m.limit.Clients, client, units}.Release()
	if m.waiters.freed != nil {
		close(m.waiters.freed)
		m.waiters.freed = nil
	}
}

// units converts bytes to units, at most the maximum of one client.
func (m *Memory) units(bytes int64) int {
	if bytes <= freeMemory {
		return 0
	}
	most := cap(m.limit.Semaphore)
	if m.limit.Clients != nil {
		most = min(most, m.limit.Clients.perAddress)
	}
	return int(min((bytes-1)/MemoryUnit+1, int64(most)))
}
