package quota

import (
	"context"
	"net/netip"
	"sync"
)

// MemoryUnit is how many bytes one unit of a Memory stands for. What is begun of one counts as a whole one, since many
// that are smaller are as much memory together.
const MemoryUnit = 64 << 10

// freeMemory is how many bytes count as nothing: a connection has about as much in its buffers.
const freeMemory = 4 << 10

// Memory is a limit of memory in units of MemoryUnit. A nil *Memory bounds nothing. It is safe for concurrent use.
type Memory struct {
	limit   Limit
	waiters *waiters
}

// waiters wait for memory.
type waiters struct {
	sync.Mutex
	freed chan struct{} // closed when some was released; nil where no client waits
}

// NewMemory returns a Memory with a limit of units.
func NewMemory(limit Limit) *Memory { return &Memory{limit, new(waiters)} }

// WithBusy returns the same memory with another error where there is none left. m may be nil.
func (m *Memory) WithBusy(busy error) *Memory {
	if m == nil {
		return nil
	}
	return &Memory{m.limit.WithBusy(busy), m.waiters}
}

// Resized returns m where its limit in bytes, and what a client has of it, are unchanged, and another Memory otherwise.
// m may be nil.
func (m *Memory) Resized(bytes int64, per PerClient) *Memory {
	if m == nil {
		m = NewMemory(Limit{})
	}
	limit := m.limit.Resized(int(bytes/MemoryUnit), per)
	if limit.Clients == m.limit.Clients && cap(limit.Semaphore) == cap(m.limit.Semaphore) {
		return m
	}
	return &Memory{limit, m.waiters}
}

// Limit returns the limit, in units.
func (m *Memory) Limit() Limit {
	if m == nil {
		return Limit{}
	}
	return m.limit
}

// Reservation is memory that a client has. The zero value is none. It is for one goroutine at a time.
type Reservation struct {
	memory *Memory
	client netip.Addr
	units  int
}

// Reserve takes memory of so many bytes, all of it or none, without waiting. A client that asks for more than it may ever
// have gets as much as that. The caller must release the reservation, unless there is an error.
func (m *Memory) Reserve(client netip.Addr, bytes int64) (Reservation, error) {
	r := Reservation{memory: m, client: client}
	err := r.Resize(bytes)
	return r, err
}

// Wait is Reserve, but waits until there is memory, also where it is the client who has it. The error is that of the limit
// where ctx ends before.
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

// nextRelease returns a channel that is closed when memory is released; nil for no bound.
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

// Resize makes it a reservation of so many bytes. After an error it is none.
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

// Release gives the memory back. It may be called again.
func (r *Reservation) Release() { r.shrink(0) }

func (r *Reservation) shrink(units int) {
	if r.units <= units {
		return
	}
	r.memory.give(r.client, r.units-units)
	r.units = units
}

// take takes units under the lock: two callers that each got a part would both fail where one could have all.
func (m *Memory) take(client netip.Addr, units int) error {
	m.waiters.Lock()
	defer m.waiters.Unlock()
	_, err := m.limit.acquire(client, units)
	return err
}

// give returns units, and wakes all that wait.
func (m *Memory) give(client netip.Addr, units int) {
	m.waiters.Lock()
	defer m.waiters.Unlock()
	Permit{m.limit.Semaphore, m.limit.Clients, client, units}.Release()
	if m.waiters.freed != nil {
		close(m.waiters.freed)
		m.waiters.freed = nil
	}
}

// units returns how many units so many bytes are, at most what one client may have.
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
