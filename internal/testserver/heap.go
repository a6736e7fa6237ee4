package testserver

import "runtime"

// HeapInUse returns the size of the reachable heap in bytes.
func HeapInUse() int64 {
	runtime.GC()
	runtime.GC() // objects finalized by the first collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
