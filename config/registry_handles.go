package config

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Beginning returns what the names begin with: "doi:" or "hdl:" and the prefix where nothing else is said.
func (h Handle) Beginning() string {
	switch {
	case h.Names != "":
		return h.Names
	case strings.HasPrefix(h.Prefix, "10."):
		return "doi:" + h.Prefix + "/"
	default:
		return "hdl:" + h.Prefix + "/"
	}
}

// maxHandlePrefix bounds the prefix of handles, in octets.
const maxHandlePrefix = 255

// checkHandles checks which names are handles. A prefix is compared without case.
func checkHandles(f *Faults, handles []Handle) {
	seen := make(map[string]bool)
	for i, h := range handles {
		path := index("registry.handles", i)
		prefix := strings.ToLower(h.Prefix)
		switch {
		case h.Prefix == "":
			f.Add(path+".prefix", "is missing")
		case !isHandlePrefix(h.Prefix):
			f.Add(path+".prefix", "%q is not a prefix of handles such as 20.500.12345, without a slash", h.Prefix)
		case seen[prefix]:
			f.Add(path+".prefix", "%q is configured twice", h.Prefix)
		}
		seen[prefix] = true
		if h.Names != "" && !isBeginning(h.Names) {
			f.Add(path+".names", "%q is not what names begin with, such as urn:example: or hdl:20.500.12345/", h.Names)
		}
	}
}

// isHandlePrefix reports whether a text is the prefix of handles, of which urnd takes those that are registered in practice: labels of letters,
// digits, hyphens and underscores (RFC 3651 section 2).
func isHandlePrefix(text string) bool {
	const others = "0123456789-_"
	if len(text) > maxHandlePrefix {
		return false
	}
	for label := range strings.SplitSeq(strings.ToLower(text), ".") {
		if label == "" || strings.Trim(label, others+"abcdefghijklmnopqrstuvwxyz") != "" {
			return false
		}
	}
	return true
}

// isBeginning reports whether names can begin with a text.
func isBeginning(text string) bool {
	const rest = "0"
	u, err := uri.Parse(text + rest)
	return err == nil && u.Scheme() != "" && !strings.ContainsAny(text, "?#")
}

// warnOfHandles warns of handles for which nothing would be found.
func warnOfHandles(f *Faults, c Config) {
	for i, h := range c.Registry.Handles {
		path, beginning := index("registry.handles", i), canonicalBeginning(h.Beginning())
		isAsked := func(of string) bool {
			of = canonicalBeginning(of)
			return strings.HasPrefix(beginning, of) || strings.HasPrefix(of, beginning)
		}
		switch {
		case c.Registry.Store == "":
			f.Add(path, "no handle is found: there is no registry (registry.store)")
		case len(c.Registry.Only) > 0 && !slices.ContainsFunc(c.Registry.Beginnings(), isAsked):
			f.Add(path, "no handle is found: the registry is not asked for names that begin with %s: add that to registry.only", h.Beginning())
		}
	}
}
