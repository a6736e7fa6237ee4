package memory

import (
	"container/list"
	"sync/atomic"

	"github.com/urnd/urnd/cache"
)

// probation is a FIFO queue of entries, bounded in bytes. Its owner synchronizes access; get and entries need
// only a read lock.
type probation[V any] struct {
	maxBytes, bytes int64
	cost            func(*cache.Entry[V]) int64
	queue           list.List // of *candidate[V], the oldest first
	elements        map[string]*list.Element
}

// candidate is an entry on probation.
type candidate[V any] struct {
	entry     *cache.Entry[V]
	requested atomic.Int32 // requests since the entry was added; at most mostRequested
}

// mostRequested is the maximum of candidate.requested: above it, readers on several processors share a cache line that
// none of them writes.
const mostRequested = 16

func candidateOf[V any](element *list.Element) *candidate[V] {
	c, _ := element.Value.(*candidate[V])
	return c
}

// get returns the entry of key, and counts the request.
func (p *probation[V]) get(key string) *cache.Entry[V] {
	element, ok := p.elements[key]
	if !ok {
		return nil
	}
	c := candidateOf[V](element)
	if c.requested.Load() < mostRequested {
		c.requested.Add(1)
	}
	return c.entry
}

// put adds an entry, and returns the entry with the same key that it replaces, or nil.
func (p *probation[V]) put(e *cache.Entry[V]) (replaced *cache.Entry[V]) {
	p.bytes += p.cost(e)
	if element, ok := p.elements[e.Key]; ok {
		c := candidateOf[V](element)
		replaced, c.entry = c.entry, e
		p.bytes -= p.cost(replaced)
		return replaced
	}
	if p.elements == nil {
		p.elements = make(map[string]*list.Element)
	}
	p.elements[e.Key] = p.queue.PushBack(&candidate[V]{entry: e})
	return nil
}

// next removes the oldest entry if the queue exceeds its bound, and returns it with the number of its requests;
// otherwise it returns nil.
func (p *probation[V]) next() (e *cache.Entry[V], requested int) {
	if p.bytes <= p.maxBytes {
		return nil, 0
	}
	c := candidateOf[V](p.queue.Front())
	return p.remove(c.entry.Key), int(c.requested.Load())
}

// remove removes and returns the entry of key, or nil.
func (p *probation[V]) remove(key string) *cache.Entry[V] {
	element, ok := p.elements[key]
	if !ok {
		return nil
	}
	e := candidateOf[V](element).entry
	delete(p.elements, key)
	p.queue.Remove(element)
	p.bytes -= p.cost(e)
	return e
}

// entries returns all entries, the oldest first.
func (p *probation[V]) entries() []*cache.Entry[V] {
	entries := make([]*cache.Entry[V], 0, len(p.elements))
	for element := p.queue.Front(); element != nil; element = element.Next() {
		entries = append(entries, candidateOf[V](element).entry)
	}
	return entries
}
