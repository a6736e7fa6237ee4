package disk

import (
	"encoding/binary"
	"runtime"
	"testing"
)

// digestNumber returns a digest with the distribution of key digests.
func digestNumber(i int) (d digest) {
	z := uint64(i) * 0x9e3779b97f4a7c15 // splitmix64
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	binary.BigEndian.PutUint64(d[:], z^z>>31)
	return d
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// The index uses at most 64 bytes per object.
func TestIndexMemory(t *testing.T) {
	const n = 200_000
	before := heap()
	x := new(index)
	for i := range n {
		x.add(entry{name: name{digest: digestNumber(i), id: uint64(i), length: 5000}})
	}
	each := float64(heap()-before) / n
	t.Logf("%.1f bytes for each of %d objects", each, n)
	if each > 64 {
		t.Errorf("%.1f bytes for an object", each)
	}
	if got := x.objects.Load(); got != n {
		t.Errorf("%d objects", got)
	}
	for i := 0; i < n; i += 97 {
		if _, ok := x.shard(digestNumber(i)).current(ref{digestNumber(i), uint64(i)}); !ok {
			t.Fatalf("object %d is missing", i)
		}
	}
	runtime.KeepAlive(x)
}
