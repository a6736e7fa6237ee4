package quota

import stdheap "container/heap"

// ordered is an item of a heap. at points to its index in the heap, or outside if it is not in a heap.
type ordered[T any] interface {
	before(other T) bool
	at() *int
}

const outside = -1

// heap is a priority queue. Its first item is ordered before all others.
type heap[T ordered[T]] []T

// fix adds an item, or restores the order after the key of the item has changed.
func (h *heap[T]) fix(item T) {
	if place := *item.at(); place == outside {
		stdheap.Push(h, item)
	} else {
		stdheap.Fix(h, place)
	}
}

// remove removes an item if the heap contains it.
func (h *heap[T]) remove(item T) {
	if place := *item.at(); place != outside {
		stdheap.Remove(h, place)
	}
}

// set adds or fixes the item if member is set, and removes it otherwise.
func (h *heap[T]) set(item T, member bool) {
	if member {
		h.fix(item)
	} else {
		h.remove(item)
	}
}

// Len implements heap.Interface of container/heap.
func (h heap[T]) Len() int { return len(h) }

// Less implements heap.Interface.
func (h heap[T]) Less(i, j int) bool { return h[i].before(h[j]) }

// Swap implements heap.Interface.
func (h heap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	*h[i].at(), *h[j].at() = i, j
}

// Push implements heap.Interface.
func (h *heap[T]) Push(x any) {
	item, _ := x.(T)
	*item.at() = len(*h)
	*h = append(*h, item)
}

// Pop implements heap.Interface.
func (h *heap[T]) Pop() any {
	last := len(*h) - 1
	item := (*h)[last]
	var none T
	(*h)[last] = none
	*h = (*h)[:last]
	*item.at() = outside
	return item
}
