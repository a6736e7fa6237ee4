package main

import (
	"container/heap"
	"math"
)

// The policies only count the sizes of objects, and need no memory for themselves.

// ratios are the fractions of requests and of bytes served from a cache.
type ratios struct{ objects, bytes float64 }

// tally counts hits.
type tally struct{ requests, hits, bytes, hitBytes int64 }

func (t *tally) add(size int64, hit bool) {
	t.requests++
	t.bytes += size
	if hit {
		t.hits++
		t.hitBytes += size
	}
}

func (t *tally) ratios() ratios {
	return ratios{float64(t.hits) / float64(t.requests), float64(t.hitBytes) / float64(t.bytes)}
}

// isCounted reports whether a request counts: the first half of a trace only fills the cache.
func (t *trace) isCounted(i int) bool { return i >= len(t.objects)/2 }

// priority returns the priority of an object at a request for it; the object with the lowest is evicted. uses
// is the number of its requests so far, including those before it was evicted; held, of those since it is in
// the cache. inflation is the priority of the last evicted object. at is the number of the request, and
// following that of the next request for the object.
type priority func(size, uses, held int64, inflation float64, at, following int) float64

// lru evicts the least recently used object.
func lru(_, _, _ int64, _ float64, at, _ int) float64 { return float64(at) }

// gdsf is Greedy-Dual-Size-Frequency, where each miss costs the same (Cherkasova 1998).
func gdsf(size, _, held int64, inflation float64, _, _ int) float64 {
	return inflation + float64(held)/float64(size)
}

// lfu evicts the least frequently used object, counting all requests so far, which no cache with bounded memory
// can know. The least recently used object is evicted first among equals.
func lfu(_, uses, _ int64, _ float64, at, _ int) float64 { return float64(uses) + float64(at)*1e-12 }

// belady evicts the object whose next use is latest: optimal for objects of one size, and close to optimal for
// others.
func belady(_, _, _ int64, _ float64, _, following int) float64 { return -float64(following) }

// replay returns the ratios of a policy with a budget in bytes. A new object may be evicted immediately.
func (t *trace) replay(budget int64, worth priority) ratios {
	var counted tally
	following := t.following()
	uses, held := make([]int64, len(t.sizes)), make([]int64, len(t.sizes))
	c := evictions{place: make([]int, len(t.sizes))}
	used, inflation := int64(0), 0.0
	for at, object := range t.objects {
		size := t.sizes[object]
		hit := c.place[object] > 0
		if t.isCounted(at) {
			counted.add(size, hit)
		}
		if uses[object]++; size > budget {
			continue
		}
		held[object]++
		p := worth(size, uses[object], held[object], inflation, at, following[at])
		if hit {
			c.queue[c.place[object]-1].priority = p
			heap.Fix(&c, c.place[object]-1)
			continue
		}
		heap.Push(&c, queued{object, p})
		for used += size; used > budget; {
			left, _ := heap.Pop(&c).(queued)
			used -= t.sizes[left.object]
			inflation = max(inflation, left.priority)
			held[left.object] = 0
		}
	}
	return counted.ratios()
}

// following returns for each request the number of the next request for the same object.
func (t *trace) following() []int {
	next, following := make([]int, len(t.sizes)), make([]int, len(t.objects))
	for i := range next {
		next[i] = math.MaxInt
	}
	for at := len(t.objects) - 1; at >= 0; at-- {
		object := t.objects[at]
		following[at], next[object] = next[object], at
	}
	return following
}

// evictions is a heap of the objects in a cache, lowest priority first.
type evictions struct {
	queue []queued
	place []int // position of each object in the queue, from 1; 0 if absent
}

type queued struct {
	object   uint32
	priority float64
}

func (e *evictions) Len() int           { return len(e.queue) }
func (e *evictions) Less(i, j int) bool { return e.queue[i].priority < e.queue[j].priority }

func (e *evictions) Swap(i, j int) {
	e.queue[i], e.queue[j] = e.queue[j], e.queue[i]
	e.place[e.queue[i].object], e.place[e.queue[j].object] = i+1, j+1
}

func (e *evictions) Push(x any) {
	one, _ := x.(queued)
	e.queue = append(e.queue, one)
	e.place[one.object] = len(e.queue)
}

func (e *evictions) Pop() any {
	last := e.queue[len(e.queue)-1]
	e.queue = e.queue[:len(e.queue)-1]
	e.place[last.object] = 0
	return last
}
