package nntp

import (
	"cmp"
	"slices"

	"github.com/urnd/urnd/resolver/scheme"
)

// maxDepth is the maximum depth of a thread. A deeper article becomes a follow-up to an earlier one of its
// references, or starts a thread.
const maxDepth = 64

// none is the parent of an article that starts a thread.
const none = -1

// threaded returns articles as items by thread, the thread with the newest article first. In a thread, each
// article comes after its parent.
func (x exchange) threaded(articles []overview) []scheme.Item {
	parents := parentsOf(articles)
	children := make([][]int, len(articles))
	for i, parent := range parents {
		if parent != none {
			children[parent] = append(children[parent], i)
		}
	}
	items := make([]scheme.Item, 0, len(articles))
	for _, root := range rootsOf(parents) {
		type place struct{ article, depth int }
		for stack := []place{{root, 0}}; len(stack) > 0; {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			items = append(items, x.item(articles[top.article], top.depth))
			for _, child := range slices.Backward(children[top.article]) {
				stack = append(stack, place{child, top.depth + 1})
			}
		}
	}
	return items
}

// parentsOf returns the index of the parent of each article, or none: the last of its references that is
// listed. References from servers may be cyclic; those are ignored.
func parentsOf(articles []overview) []int {
	index := make(map[string]int, len(articles))
	for i, a := range articles {
		if _, ok := index[a.id]; !ok {
			index[a.id] = i
		}
	}
	f := forest{make([]int, len(articles)), make([]int, len(articles))}
	for i := range f.parents {
		f.parents[i] = none
	}
	for i, a := range articles {
		for _, id := range slices.Backward(a.references) {
			if parent, ok := index[id]; ok && f.attach(i, parent) {
				break
			}
		}
	}
	return f.parents
}

// forest is the parents of articles, by index. No thread is deeper than maxDepth.
type forest struct {
	parents []int
	heights []int // depth of the thread below each article
}

// attach makes parent the parent of article, which must start a thread. It reports false if that would create a
// cycle, or a thread above maxDepth.
func (f forest) attach(article, parent int) bool {
	depth := 1
	for at := parent; at != none; at = f.parents[at] {
		if at == article || depth+f.heights[article] > maxDepth {
			return false
		}
		depth++
	}
	f.parents[article] = parent
	height := f.heights[article] + 1
	for at := parent; at != none && f.heights[at] < height; at = f.parents[at] {
		f.heights[at] = height
		height++
	}
	return true
}

// rootsOf returns the articles that start threads, the thread with the newest article first.
func rootsOf(parents []int) []int {
	newest := make([]int, len(parents)) // for each root the highest index in its thread
	var roots []int
	for i := range parents {
		root := i
		for parents[root] != none {
			root = parents[root]
		}
		newest[root] = i
		if root == i {
			roots = append(roots, i)
		}
	}
	slices.SortFunc(roots, func(a, b int) int { return cmp.Compare(newest[b], newest[a]) })
	return roots
}
