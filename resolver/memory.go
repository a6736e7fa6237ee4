package resolver

import "net/netip"

// MemoryUnit is how many octets one slot of a Memory stands for. What is begun of one takes a slot, since many that are
// smaller than it are as much memory.
const MemoryUnit = 64 << 10

// freeMemory is how many octets take no slot: plain answers do not, of which a connection has about as much in its buffers.
const freeMemory = 4 << 10

// Memory is a limit of memory in slots of MemoryUnit, of which each client has a share. One without slots bounds
// nothing. It is safe for concurrent use.
type Memory struct{ Quota }

// Held is memory that a client holds. The zero value is none. It is for one goroutine at a time.
type Held struct {
	memory Memory
	client netip.Addr
	units  []func() // each releases one
}

// Hold takes memory of so many octets without waiting, at most all that the client may have. The caller must call
// Release, unless there is an error.
func (m Memory) Hold(client netip.Addr, octets int64) (Held, error) {
	h := Held{memory: m, client: client}
	err := h.Resize(octets)
	return h, err
}

// Resize makes it memory of so many octets. After an error it is none.
func (h *Held) Resize(octets int64) error {
	if h.memory.Slots == nil {
		return nil
	}
	units := 0
	if octets > freeMemory {
		units = int(min((octets-1)/MemoryUnit+1, int64(h.memory.most())))
	}
	for len(h.units) < units {
		unit, err := h.memory.Acquire(h.client)
		if err != nil {
			h.Release()
			return err
		}
		h.units = append(h.units, unit)
	}
	h.shrink(units)
	return nil
}

// Release gives the memory back. It may be called again.
func (h *Held) Release() { h.shrink(0) }

func (h *Held) shrink(units int) {
	for len(h.units) > units {
		last := len(h.units) - 1
		h.units[last]()
		h.units = h.units[:last]
	}
}

// most returns how many slots one client may have.
func (m Memory) most() int {
	if m.Shares == nil {
		return cap(m.Slots)
	}
	most, _ := m.Shares.Bounds()
	return min(cap(m.Slots), most)
}
