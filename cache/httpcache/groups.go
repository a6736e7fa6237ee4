package httpcache

import (
	"maps"
	"slices"
	"sync"

	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// groupSelection are the cache groups (RFC 9875) to purge, by origin; no groups are all of the origin. It is immutable.
type groupSelection map[string][]string

// Limits of a groupSelection: beyond maxGroups it has all groups of an origin, and beyond maxGroupOrigins those of all
// origins.
const maxGroups, maxGroupOrigins = 128, 1024

// anyOrigin is the key of all origins in a groupSelection.
const anyOrigin = ""

// with returns the selection with more groups of an origin, within the limits.
func (g groupSelection) with(origin string, groups []string) groupSelection {
	if _, all := g[anyOrigin]; all {
		return g
	}
	after := maps.Clone(g)
	if after == nil {
		after = make(groupSelection)
	}
	before, ok := after[origin]
	switch all := append(slices.Clone(before), groups...); {
	case !ok && len(after) >= maxGroupOrigins:
		return groupSelection{anyOrigin: nil}
	case ok && len(before) == 0, len(all) > maxGroups:
		after[origin] = nil
	default:
		slices.Sort(all)
		after[origin] = slices.Compact(all)
	}
	return after
}

// selects implements purge.of.
func (g groupSelection) selects(key string, s *stored) bool {
	groups, ok := g[rules.OriginOf(key)]
	if !ok {
		groups, ok = g[anyOrigin]
	}
	if !ok || s == nil {
		return ok
	}
	of := rules.ParseStrings(s.Fields.Values("Cache-Groups"))
	return len(groups) == 0 && len(of) > 0 ||
		slices.ContainsFunc(of, func(group string) bool { return slices.Contains(groups, group) })
}

// groupPurges are the purges of cache groups, which one goroutine carries out. Those that come in the meantime become
// one purge, so that their number is limited, and all of them are effective.
type groupPurges struct {
	mu       sync.Mutex
	running  bool
	waiting  *purge // announced, but not begun; nil for none
	selected groupSelection
}

// invalidateGroups purges the responses of one origin in the cache groups that the response to an unsafe
// request names: RFC 9875 section 3.
func (c *Cache) invalidateGroups(key string, header httpmessage.Fields) {
	groups := rules.ParseStrings(header.Values("Cache-Group-Invalidation"))
	if len(groups) == 0 || c.config.Store == nil {
		return
	}
	origin := rules.OriginOf(key)
	c.shared.forget(origin, c.storage.peek(origin))
	g := &c.groups
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.waiting
	g.selected = g.selected.with(origin, groups)
	g.waiting = &purge{of: g.selected.selects}
	c.announce(g.waiting)
	if before != nil {
		c.purges.remove(before) // the new one selects more
	}
	if !g.running {
		g.running = true
		c.spawn(c.carryOutGroups)
	}
}

// next returns the waiting purge, nil for none.
func (g *groupPurges) next() *purge {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.waiting
	g.running, g.waiting, g.selected = p != nil, nil, nil
	return p
}

// carryOutGroups carries out the waiting purges until there are none, or the cache is closed.
func (c *Cache) carryOutGroups() {
	for p := c.groups.next(); p != nil && c.base.Err() == nil; p = c.groups.next() {
		if _, err := c.carryOut(p); err != nil {
			c.carryOutLater(p)
		}
	}
}
