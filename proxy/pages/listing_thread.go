package pages

import "github.com/urnd/urnd/resolver/scheme"

// maxDepth bounds how deep articles are shown in a thread: deeper ones are at this depth.
const maxDepth = 8

// thread appends articles in nested lists.
func (m *items) thread(all []scheme.Item) {
	depth := 0
	for i := range all {
		at := min(max(all[i].Depth, 0), maxDepth)
		switch {
		case i == 0:
			at = 0
		case at > depth:
			at = depth + 1
			m.tag("\n<ul>\n")
		default:
			m.ends(depth - at)
			m.tag("</li>\n")
		}
		depth = at
		m.tag(`<li>`)
		m.name(&all[i])
		m.more(&all[i])
	}
	m.ends(depth)
	m.tag("</li>\n")
}

// ends appends the ends of n lists, each with that of its last item.
func (m *items) ends(n int) {
	for range n {
		m.tag("</li></ul>\n")
	}
}
