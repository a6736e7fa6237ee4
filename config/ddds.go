package config

import (
	"slices"

	"github.com/urnd/urnd/uri"
)

func checkRootOptions(f *Faults, path string, c DDDS) {
	seen := make(map[string]bool)
	for i, o := range c.RootOptions {
		at := index(path, i) + ".root"
		switch {
		case !slices.ContainsFunc(slices.Concat(c.Roots, c.URIRoots), func(root string) bool { return uri.SameHost(root, o.Root) }):
			f.Add(at, "%q is not one of ddds.roots or ddds.uri_roots", o.Root)
		case seen[uri.CanonicalHost(o.Root)]:
			f.Add(at, "%q is configured twice", o.Root)
		}
		seen[uri.CanonicalHost(o.Root)] = true
	}
}
