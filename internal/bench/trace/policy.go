package main

import (
	"container/heap"
	"math"
)

// A policy decides what a cache of a size has. These count the sizes of objects alone, and need no memory for themselves.

// ratios are the shares of requests, and of octets, that were answered from a cache.
type ratios struct{ objects, bytes float64 }

// tally counts hits.
type tally struct{ requests, hits, bytes, hitBytes int64 }

func (t *tally) add(size int64, isHit bool) {
	t.requests++
	t.bytes += size
	if isHit {
		t.hits++
		t.hitBytes += size
	}
}

func (t *tally) ratios() ratios {
	return ratios{float64(t.hits) / float64(t.requests), float64(t.hitBytes) / float64(t.bytes)}
}

// isCounted reports whether a request counts: the first half of a trace fills the cache.
func (t *trace) isCounted(i int) bool { return i >= len(t.objects)/2 }

// priority says how much an object is worth when it is asked for: the least leaves first. uses counts its requests until now, also those
// before it was evicted; held, those since it is in the cache; inflation is the priority of what was evicted last; at is the number of
// the request, and following that of the next one for the object.
type priority func(size, uses, held int64, inflation float64, at, following int) float64

// lru is by the time of the last use.
func lru(_, _, _ int64, _ float64, at, _ int) float64 { return float64(at) }

// gdsf is Greedy-Dual-Size-Frequency, where each miss costs the same (Cherkasova 1998).
func gdsf(size, _, held int64, inflation float64, _, _ int) float64 {
	return inflation + float64(held)/float64(size)
}

// lfu is by all requests so far, as no cache with bounded memory can know them; of equals the least recently used one leaves.
func lfu(_, uses, _ int64, _ float64, at, _ int) float64 { return float64(uses) + float64(at)*1e-12 }

// belady is by the next use, the latest of which leaves: the best there is for objects of one size, and not far from it for others.
func belady(_, _, _ int64, _ float64, _, following int) float64 { return -float64(following) }

// replay returns the ratios of a policy with a budget in octets. An object may be the first one to leave as it comes.
func (t *trace) replay(budget int64, worth priority) ratios {
	var counted tally
	following := t.following()
	uses, held := make([]int64, len(t.sizes)), make([]int64, len(t.sizes))
	c := evictions{place: make([]int, len(t.sizes))}
	used, inflation := int64(0), 0.0
	for at, object := range t.objects {
		size := t.sizes[object]
		isHit := c.place[object] > 0
		if t.isCounted(at) {
			counted.add(size, isHit)
		}
		if uses[object]++; size > budget {
			continue
		}
		held[object]++
		p := worth(size, uses[object], held[object], inflation, at, following[at])
		if isHit {
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

// following returns for each request the number of the next one for the same object.
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

// evictions is a heap of what a cache has, the least priority first.
type evictions struct {
	queue []queued
	place []int // of each object in the queue, from 1 on; 0 for one that is not there
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
