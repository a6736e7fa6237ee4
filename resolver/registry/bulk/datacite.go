package bulk

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// dois reads DOIs of DataCite: the JSON of its API (GET /dois), and a document a line.
type dois struct {
	*documents
	base string
}

func newDOIs(r io.Reader, base string) foreign {
	if base == "" {
		base = "doi:"
	}
	return &dois{newDocuments(r, "data"), base}
}

// doiAttributes are those of a DOI that are imported.
type doiAttributes struct {
	DOI    string `json:"doi"`
	URL    string `json:"url"`
	State  string `json:"state"`
	Reason string `json:"reason"`
	Titles []struct {
		Title string `json:"title"`
	} `json:"titles"`
	Creators []struct {
		Name string `json:"name"`
	} `json:"creators"`
	Publisher json.RawMessage `json:"publisher"` // a text, or an object with a name
	Year      json.Number     `json:"publicationYear"`
	Types     struct {
		General string `json:"resourceTypeGeneral"`
	} `json:"types"`
}

// isLostAttribute reports whether an attribute describes a resource, and has no place in what is imported.
func isLostAttribute(name string) bool {
	return slices.Contains([]string{
		"alternateIdentifiers", "identifiers", "container", "contributors", "contentUrl", "dates", "descriptions", "formats", "fundingReferences",
		"geoLocations", "language", "relatedIdentifiers", "relatedItems", "rightsList", "sizes", "subjects", "version",
	}, name)
}

func (d *dois) next() (*item, error) {
	text, err := d.documents.next()
	if err != nil {
		return nil, err
	}
	var of struct {
		ID         string          `json:"id"`
		Attributes json.RawMessage `json:"attributes"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return rejected(d.number, string(text), "it is no DOI of DataCite: %w", err), nil
	}
	if len(of.Attributes) == 0 {
		of.Attributes = text
	}
	var a doiAttributes
	var all map[string]json.RawMessage
	err = json.Unmarshal(of.Attributes, &a)
	if err == nil {
		err = json.Unmarshal(of.Attributes, &all)
	}
	if err != nil {
		return rejected(d.number, of.ID, "it is no DOI of DataCite: %w", err), nil
	}
	if a.DOI == "" {
		a.DOI = of.ID
	}
	i := newItem(d.number, a.DOI)
	if a.DOI != "" {
		i.entry.Name = d.base + a.DOI
	}
	a.describe(i)
	var lost []string
	for name, value := range all {
		if empty := slices.Contains([]string{"null", `""`, "[]", "{}"}, string(value)); isLostAttribute(name) && !empty {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		i.lose("of its metadata: %s", strings.Join(lost, ", "))
	}
	return i, nil
}

// describe sets what the attributes say.
func (a *doiAttributes) describe(i *item) {
	if a.URL != "" {
		i.to(registry.Target{URI: a.URL})
	}
	switch a.State {
	case "draft":
		i.is(registry.Reserved, "")
		i.lose("its state draft: it is reserved")
	case "registered":
		i.lose("its state registered: it is active, and whether it is found by searches is not said")
	}
	for _, t := range a.Titles {
		i.describe("title", t.Title)
	}
	for _, c := range a.Creators {
		i.describe("creator", c.Name)
	}
	var publisher struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(a.Publisher, &publisher) != nil {
		_ = json.Unmarshal(a.Publisher, &publisher.Name) // it is a text, or nothing
	}
	i.describe("publisher", publisher.Name)
	i.describe("year", a.Year.String())
	i.describe("type", a.Types.General)
}
