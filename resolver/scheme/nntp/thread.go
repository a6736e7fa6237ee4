package nntp

import (
	"cmp"
	"slices"

	"github.com/urnd/urnd/resolver/scheme"
)

// maxDepth bounds how deep a thread is: an article that would be deeper begins one.
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
			items = append(items, x.item(articles[top.article], min(top.depth, maxDepth)))
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
	parents := make([]int, len(articles))
	for i := range parents {
		parents[i] = none
	}
	for i, a := range articles {
		for _, id := range slices.Backward(a.references) {
			if parent, ok := index[id]; ok && !isBelow(parents, parent, i) {
				parents[i] = parent
				break
			}
		}
	}
	return parents
}

// isBelow reports whether an article is another one or below it, or too deep to tell.
func isBelow(parents []int, article, other int) bool {
	for range maxDepth {
		switch article {
		case other:
			return true
		case none:
			return false
		}
		article = parents[article]
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
