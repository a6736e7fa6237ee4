package httpcache

import "sync/atomic"

// budget bounds the memory of bodies that are arriving. It is safe for concurrent use.
type budget struct {
	most int64
	used atomic.Int64
}

// take takes n octets, and reports whether there were as many.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) > b.most {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *budget) give(n int64) { b.used.Add(-n) }
