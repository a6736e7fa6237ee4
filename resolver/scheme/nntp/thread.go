package nntp

import (
	"cmp"
	"slices"

	"github.com/urnd/urnd/resolver/scheme"
)

// maxDepth bounds how deep a thread is: an article that would make it deeper follows an earlier one of its
// references, or begins a thread.
const maxDepth = 64

// none is the parent of an article that begins a thread.
const none = -1

// threaded returns articles as items by thread, the one with the newest article first. In a thread, an
// article is after the one that it follows up.
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

// parentsOf returns the index of the article that each follows up, or none: the last of its references
// that is there. What servers send may have circles, which are not followed.
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

// forest is articles by thread, each by its index. No thread is deeper than maxDepth.
type forest struct {
	parents []int
	heights []int // how deep the thread below an article is
}

// attach puts an article that begins a thread, with what is below it, below another one. It reports false where
// that would make a circle or a thread that is too deep.
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

// rootsOf returns the articles that begin threads, the one whose thread has the newest article first.
func rootsOf(parents []int) []int {
	newest := make([]int, len(parents)) // of the articles below each, by index, for roots
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
