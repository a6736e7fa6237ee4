package config

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Handle says which names of the registry are handles, or DOIs, with a prefix.
type Handle struct {
	Prefix string `mapstructure:"prefix"` // such as "20.500.12345"
	Names  string `mapstructure:"names"`  // what the names begin with that the rest of such a handle follows; empty: see Beginning
}

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

func handleSetting() Setting {
	return Setting{
		Path: "registry.handles", Default: []Handle{}, Form: tableForm, Invalidates: Nothing, Elements: []Setting{
			{Path: "registry.handles.*.prefix", Form: "prefix of handles", Doc: "the prefix of the handles, without a slash; it must be set"},
			{
				Path: "registry.handles.*.names", Form: "beginning of a name",
				Doc: "what the names in the registry begin with, which the part of a handle behind the slash follows; empty: doi: and the prefix " +
					"where that begins with 10., else hdl: and the prefix",
			},
		},
		Doc: "Names that are handles or DOIs: /api/handles/ answers for them as proxies of the Handle System do, see docs/links.md. " +
			"Empty: there is no such API. A list:",
		Sample: `handles:
  # the handle 20.500.12345/a1 is the name urn:example:a1
  - {prefix: "20.500.12345", names: "urn:example:"}
  # the DOI 10.5555/a1 is the name doi:10.5555/a1, which is urn:doi:10.5555/a1
  - prefix: "10.5555"`,
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
			f.add(path+".prefix", "is missing")
		case !isHandlePrefix(h.Prefix):
			f.add(path+".prefix", "%q is not a prefix of handles such as 20.500.12345, without a slash", h.Prefix)
		case seen[prefix]:
			f.add(path+".prefix", "%q is configured twice", h.Prefix)
		}
		seen[prefix] = true
		if h.Names != "" && !isBeginning(h.Names) {
			f.add(path+".names", "%q is not what names begin with, such as urn:example: or hdl:20.500.12345/", h.Names)
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
			f.add(path, "no handle is found: there is no registry (registry.store)")
		case len(c.Registry.Only) > 0 && !slices.ContainsFunc(c.Registry.Beginnings(), isAsked):
			f.add(path, "no handle is found: the registry is not asked for names that begin with %s: add that to registry.only", h.Beginning())
		}
	}
}
