package bulk

import (
	"encoding/json"
	"io"
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

func (d *dois) next() (*item, error) {
	var of struct {
		ID         string          `json:"id"`
		Attributes json.RawMessage `json:"attributes"`
	}
	text, bad, err := d.entry("DOI of DataCite", &of)
	if bad != nil || err != nil {
		return bad, err
	}
	var unmapped []string
	if len(of.Attributes) == 0 {
		of.Attributes = text
	} else {
		unmapped = unmappedMembers(text, "", "id", "type", "attributes")
	}
	var a doiAttributes
	if err := json.Unmarshal(of.Attributes, &a); err != nil {
		return rejected(d.number, of.ID, "it is no DOI of DataCite: %w", err), nil
	}
	if a.DOI == "" {
		a.DOI = of.ID
	}
	i := newItem(d.number, a.DOI)
	if a.DOI != "" {
		i.named(d.base, a.DOI)
	}
	a.describe(i)
	if unmapped = append(unmapped, a.unmapped(of.Attributes)...); len(unmapped) > 0 {
		i.loseFields(unmapped, "of its metadata: %.500s", strings.Join(unmapped, ", "))
	}
	return i, nil
}

// unmapped returns the names of attributes, and of members of attributes, that are not imported. prefix and suffix are
// in the DOI, and the last four of types are other names of the first.
func (a *doiAttributes) unmapped(text json.RawMessage) []string {
	names := unmappedMembers(text, "", "id", "type", "doi", "prefix", "suffix", "url", "state", "titles", "creators",
		"publisher", "publicationYear", "types")
	var of struct {
		Titles   json.RawMessage `json:"titles"`
		Creators json.RawMessage `json:"creators"`
		Types    json.RawMessage `json:"types"`
	}
	if json.Unmarshal(text, &of) != nil {
		return names // it was decoded before
	}
	names = append(names, unmappedIn(of.Titles, "titles.", "title")...)
	names = append(names, unmappedIn(of.Creators, "creators.", "name")...)
	names = append(names, unmappedMembers(a.Publisher, "publisher.", "name")...)
	types := unmappedMembers(of.Types, "types.", "resourceTypeGeneral", "bibtex", "ris", "citeproc", "schemaOrg")
	return append(names, types...)
}

// describe sets what the attributes say.
func (a *doiAttributes) describe(i *item) {
	if a.URL != "" {
		i.to(registry.Target{URI: a.URL})
	}
	switch a.State {
	case "", "findable":
	case "draft":
		i.is(registry.Reserved, "")
		i.loseField("state", "its state draft: it is reserved")
	case "registered":
		i.loseField("state", "its state registered: it is active, and whether it is found by searches is not said")
	default:
		i.loseField("state", "its state %.40q", a.State)
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
