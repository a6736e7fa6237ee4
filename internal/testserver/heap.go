package testserver

import "runtime"

// HeapInUse returns the octets of the heap that something refers to.
func HeapInUse() int64 {
	runtime.GC()
	runtime.GC() // what the first has finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
