package status

import (
	"cmp"
	"maps"
	"slices"
)

// sum returns several instances as if they were one. What differs between them is said to; the registry, which they may
// share, is the one that is furthest behind.
func sum(all []Instance) Instance {
	total := Instance{Address: "all", Version: all[0].Version, Config: all[0].Config, Uptime: all[0].Uptime, Ready: true, Caches: make(map[string]Cache)}
	systems := make(map[string]System)
	for _, i := range all {
		total.Version = same(total.Version, i.Version)
		total.Config = same(total.Config, i.Config)
		total.Uptime = min(total.Uptime, i.Uptime)
		total.Ready = total.Ready && i.Ready
		total.Degraded = append(total.Degraded, i.Degraded...)
		total.Requests += i.Requests
		total.Errors += i.Errors
		total.Connections += i.Connections
		for name, c := range i.Caches {
			t := total.Caches[name]
			total.Caches[name] = Cache{t.Entries + c.Entries, t.Bytes + c.Bytes, t.Lookups + c.Lookups, t.Hits + c.Hits}
		}
		total.Registry = worse(total.Registry, i.Registry)
		for _, s := range i.Systems {
			t := systems[s.Name]
			exchanges := t.Exchanges + s.Exchanges
			systems[s.Name] = System{s.Name, exchanges, (t.Seconds*t.Exchanges + s.Seconds*s.Exchanges) / exchanges}
		}
	}
	total.Systems = slices.SortedFunc(maps.Values(systems), slowest)
	return total
}

// slowest puts the system first whose answers take longest.
func slowest(a, b System) int {
	return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Name, b.Name))
}

// differing is what is said where instances do not agree.
const differing = "differing"

func same(a, b string) string {
	if a != b {
		return differing
	}
	return a
}

// worse returns what can be relied on, where instances see the registry differently.
func worse(a, b *Registry) *Registry {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	default:
		return &Registry{Available: a.Available && b.Available, Names: min(a.Names, b.Names), Behind: max(a.Behind, b.Behind)}
	}
}
