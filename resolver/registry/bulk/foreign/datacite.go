package foreign

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// DataCite reads DOIs of DataCite: the JSON of its API (GET /dois), or one document per line.
func DataCite(in *Input, base string) (Entries, error) {
	base = cmp.Or(base, "doi:")
	return entries(newDocuments(in, in, "data").next, "DOI of DataCite", func(r *record, i *Item) {
		id, a := r.string("id"), r
		if attributes := r.records("", "attributes"); len(attributes) > 0 {
			a = attributes[0]
		}
		i.Input = cmp.Or(a.string("doi"), id)
		if i.Input != "" {
			i.named(base, i.Input)
		}
		i.Input = shown(i.Input)
		r.skip("type")
		a.skip("id", "type", "prefix", "suffix") // prefix and suffix are parts of the DOI
		if url := a.string("url"); url != "" {
			i.to(registry.Target{URI: url})
		}
		i.dataCiteState(a.string("state"))
		for _, title := range a.records("titles.", "titles") {
			i.describe("title", title.string("title"))
		}
		for _, creator := range a.records("creators.", "creators") {
			i.describe("creator", creator.string("name"))
		}
		i.describe("publisher", a.textOr("publisher"))
		for _, publisher := range a.records("publisher.", "publisher") {
			i.describe("publisher", publisher.string("name"))
		}
		var year json.Number
		a.take(&year, "publicationYear")
		i.describe("year", year.String())
		for _, types := range a.records("types.", "types") {
			i.describe("type", types.string("resourceTypeGeneral"))
			types.skip("bibtex", "ris", "citeproc", "schemaOrg") // other names of the type
		}
		if names := r.rest(); len(names) > 0 {
			i.addUnmapped(names, "metadata: %.500s", strings.Join(names, ", "))
		}
		r.members, r.inner = nil, nil
	}), nil
}

// dataCiteState converts the state of a DOI.
func (i *Item) dataCiteState(state string) {
	switch state {
	case "", "findable":
	case "draft":
		i.Entry.Status = registry.Reserved
		i.addUnmappedField("state", "state draft: registered as reserved")
	case "registered":
		i.addUnmappedField("state", "state registered: registered as active, without its exclusion from searches")
	default:
		i.addUnmappedField("state", "state %.40q", state)
	}
}
