package foreign

import (
	"errors"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// Bioregistry reads the registry.json of the Bioregistry (https://bioregistry.io). Each Bioregistry prefix
// with a URI format becomes a prefix of the registry. Line numbers count all Bioregistry prefixes. Without a
// base the names are CURIEs, such as "chebi:24867".
func Bioregistry(in *Input, base string) (Entries, error) {
	if start, err := in.Peek(maxShown); !strings.HasPrefix(strings.TrimSpace(string(start)), "{") {
		return nil, errors.Join(errors.New("not a registry.json of the Bioregistry"), err)
	}
	d := newDocuments(in, in.strict())
	d.maps = []string{""}
	return entries(d.next, "prefix of the Bioregistry", func(r *record, i *Item) {
		i.Input = shown(base + r.name + ":")
		i.nameEncoded(base, r.name, r.name+":")
		i.Entry.Key = registry.Prefix(i.Entry.Name)
		r.skip("prefix")
		i.uriFormat(r.string("uri_format"), "")
		for _, provider := range r.records("providers.", "providers") { // the code is its name if it has no other
			i.uriFormat(provider.string("uri_format"), provider.string("name", "code"))
		}
		pattern := r.string("pattern") // matches the text after the prefix
		if err := registry.CheckPattern(pattern); err != nil {
			i.addUnmappedField("pattern", "pattern: %v", err)
		} else {
			i.Entry.Pattern = pattern
		}
		i.describe("title", r.string("name"))
		i.describe("description", r.string("description"))
		i.describe("homepage", r.string("homepage"))
		for _, who := range r.records("contact.", "contact") {
			i.contact(who.string("name"), who.string("email"))
		}
		var synonyms []string
		if r.take(&synonyms, "synonyms"); len(synonyms) > 0 {
			i.describe("synonyms", synonyms)
			i.addUnmappedField("synonyms",
				"synonyms %.200s: stored in the metadata only, names with them are not found",
				strings.Join(synonyms, ", "))
		}
		deprecated := false
		if r.take(&deprecated, "deprecated"); deprecated {
			i.describe("deprecated", true)
			i.addUnmappedField("deprecated", "deprecated: stored in the metadata only, the prefix is active")
		}
	}), nil
}

// uriFormat adds the target of a URI format, in which $1 stands for the text after the prefix. If $1 is at
// the end, the target is the text before it, otherwise a template.
func (i *Item) uriFormat(format, title string) {
	before, after, found := strings.Cut(strings.NewReplacer("{", "%7B", "}", "%7D").Replace(format), "$1")
	switch {
	case found && after != "":
		before += "{+suffix}" + strings.ReplaceAll(after, "$1", "{+suffix}")
		fallthrough
	case found:
		i.to(registry.Target{URI: before, Title: title})
	case format != "":
		i.addUnmappedField("uri_format", "format %.200s without $1", format)
	}
}
