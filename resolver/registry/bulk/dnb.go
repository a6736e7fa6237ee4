package bulk

import (
	"encoding/json"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// dnbDocuments reads URNs of the Deutsche Nationalbibliothek: the JSON of the URN service (API v2).
type dnbDocuments struct{ *documents }

func (d *dnbDocuments) next() (*item, error) {
	text, err := d.documents.next()
	if err != nil {
		return nil, err
	}
	var of struct {
		URN       string          `json:"urn"`
		URLs      json.RawMessage `json:"urls"` // a list, or the address of another document that has it
		Successor string          `json:"successor"`
		Comment   string          `json:"comment"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return rejected(d.number, string(text), "it is no URN of the URN service: %w", err), nil
	}
	i := newItem(d.number, of.URN)
	i.entry.Name = of.URN
	i.describe("comment", of.Comment)
	var urls []struct {
		URL      string `json:"url"`
		Priority int    `json:"priority"`
	}
	if err := json.Unmarshal(of.URLs, &urls); err != nil && len(of.URLs) > 0 {
		return rejected(d.number, of.URN, "its addresses are not in this document, but in %.200s", of.URLs), nil
	}
	for _, u := range urls {
		// There the greatest number is first, here the least one.
		i.to(registry.Target{URI: u.URL, Priority: -u.Priority})
	}
	_, successor, found := strings.Cut(of.Successor, "urn:")
	switch {
	case found && len(urls) == 0:
		i.is(registry.Withdrawn, "it has a successor")
		i.entry.Successors = []string{"urn:" + successor}
		i.said.add(fieldSuccessors)
	case of.Successor != "":
		i.lose("its successor %.200s: it still leads somewhere itself", of.Successor)
	}
	return i, nil
}

// epicur reads URNs of the Deutsche Nationalbibliothek: the transfer format epicur.
type epicur struct{ *xmlElements }

// epicurRecord is an element record.
type epicurRecord struct {
	Identifiers []epicurIdentifier `xml:"identifier"`
	Resources   []struct {
		Identifiers []epicurIdentifier `xml:"identifier"`
		Formats     []struct {
			Scheme string `xml:"scheme,attr"`
			Text   string `xml:",chardata"`
		} `xml:"format"`
	} `xml:"resource"`
	VersionOf []epicurIdentifier `xml:"isVersionOf"`
}

type epicurIdentifier struct {
	Scheme string `xml:"scheme,attr"`
	Role   string `xml:"role,attr"`
	Text   string `xml:",chardata"`
}

func (e *epicur) next() (*item, error) {
	for {
		var of epicurRecord
		line, err := e.xmlElements.next("record", &of)
		if err != nil {
			return nil, err
		}
		if len(of.Identifiers) > 0 { // OAI-PMH has an element record, too
			return of.item(line), nil
		}
	}
}

// item makes a name of a record. The address whose role is primary is first.
func (r *epicurRecord) item(line int64) *item {
	i := newItem(line, "")
	for _, id := range r.Identifiers {
		if name := strings.TrimSpace(id.Text); strings.HasPrefix(id.Scheme, "urn:") && i.entry.Name == "" {
			i.entry.Name, i.input = name, name
		} else {
			i.lose("its further identifier %.200s", name)
		}
	}
	for _, resource := range r.Resources {
		t := registry.Target{}
		for _, format := range resource.Formats {
			if format.Scheme == "imt" { // a media type
				t.Type = strings.TrimSpace(format.Text)
			}
		}
		for _, id := range resource.Identifiers {
			t.URI, t.Priority = strings.TrimSpace(id.Text), 1
			if id.Role == "primary" {
				t.Priority = 0
			}
			i.to(t)
		}
	}
	for _, of := range r.VersionOf {
		i.lose("that it is a version of %.200s", strings.TrimSpace(of.Text))
	}
	return i
}
