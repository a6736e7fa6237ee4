package memory

import (
	"hash/maphash"
	"unsafe"
)

// fingerprintsPerEntry is the number of fingerprints in a ghost for each entry of the usual size.
const fingerprintsPerEntry = 2

// ghost stores fingerprints of evicted keys, without their entries, in a table in which a new fingerprint
// overwrites an old one. It may forget a key early, and confuses two keys with a probability of one in some
// billions.
type ghost struct {
	seed         maphash.Seed
	fingerprints []uint32 // 0 in a free slot
}

func newGhost(slots int64) ghost {
	return ghost{seed: maphash.MakeSeed(), fingerprints: make([]uint32, max(slots, 1))}
}

// memory returns the size of the table in bytes.
func (g *ghost) memory() int64 { return int64(unsafe.Sizeof(uint32(0))) * int64(len(g.fingerprints)) }

func (g *ghost) add(key string) {
	slot, fingerprint := g.place(key)
	*slot = fingerprint
}

func (g *ghost) has(key string) bool {
	slot, fingerprint := g.place(key)
	return *slot == fingerprint
}

// place returns the only slot for key, and the fingerprint of key.
func (g *ghost) place(key string) (slot *uint32, fingerprint uint32) {
	hash := maphash.String(g.seed, key)
	return &g.fingerprints[hash%uint64(len(g.fingerprints))], uint32(hash>>32) | 1
}
