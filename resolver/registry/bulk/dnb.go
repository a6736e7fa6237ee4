package bulk

import (
	"encoding/json"
	"encoding/xml"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/resolver/registry"
)

// dnbDocuments reads URNs of the Deutsche Nationalbibliothek: the JSON of the URN service (API v2).
type dnbDocuments struct{ *documents }

func (d *dnbDocuments) next() (*item, error) {
	var of struct {
		URN       string          `json:"urn"`
		URLs      json.RawMessage `json:"urls"` // a list, or the address of another document that has it
		Successor string          `json:"successor"`
		Comment   string          `json:"comment"`
	}
	text, bad, err := d.entry("URN of the URN service", &of)
	if bad != nil || err != nil {
		return bad, err
	}
	i := newItem(d.number, of.URN)
	i.nameEncoded("", of.URN, of.URN)
	i.describe("comment", of.Comment)
	// self, namespace and myUrls are links that follow from the URN.
	i.loseMembers(append(unmappedMembers(text, "", "urn", "urls", "successor", "comment", "self", "namespace", "myUrls"),
		unmappedIn(of.URLs, "urls.", "url", "priority", "urn", "self")...))
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
	successor, err := successorURN(of.Successor)
	switch {
	case err != nil:
		i.reject("its successor %.200q: %w", of.Successor, err)
	case successor != "" && len(urls) == 0:
		i.is(registry.Withdrawn, "it has a successor")
		i.entry.Successors = []string{successor}
		i.said.add(fieldSuccessors)
	case of.Successor != "":
		i.loseField("successor", "its successor %.200s: it still leads somewhere itself", of.Successor)
	}
	return i, nil
}

// successorURN returns the URN of a successor: a URN, or the URL of its resource, in whose path it may be encoded. ""
// is for none.
func successorURN(text string) (string, error) {
	if isURN(text) {
		return text, nil
	}
	_, urn, found := strings.Cut(text, "urn:")
	if !found {
		return "", nil
	}
	return url.PathUnescape("urn:" + urn)
}

// epicur reads URNs of the Deutsche Nationalbibliothek: the transfer format epicur.
type epicur struct {
	*xmlElements
	status string // what is done with the records that follow: the type of update_status
}

func newEpicur(source *charset.Source) *epicur {
	e := &epicur{xmlElements: newXMLElements(source)}
	e.passed = func(start xml.StartElement) {
		switch start.Name.Local {
		case "epicur":
			e.status = ""
		case "update_status":
			e.status = attributeOf(start, "type")
		}
	}
	return e
}

// epicurRecord is an element record.
type epicurRecord struct {
	Identifiers []epicurIdentifier `xml:"identifier"`
	Resources   []struct {
		Identifiers []epicurIdentifier `xml:"identifier"`
		Formats     []struct {
			Scheme string `xml:"scheme,attr"`
			Text   string `xml:",chardata"`
			unknownXML
		} `xml:"format"`
		unknownXML
	} `xml:"resource"`
	VersionOf []epicurIdentifier `xml:"isVersionOf"`
	unknownXML
}

type epicurIdentifier struct {
	Scheme string `xml:"scheme,attr"`
	Role   string `xml:"role,attr"`
	Text   string `xml:",chardata"`
	unknownXML
}

func (e *epicur) next() (*item, error) {
	for {
		var of epicurRecord
		line, err := e.xmlElements.next("record", &of)
		if err != nil {
			return nil, err
		}
		if len(of.Identifiers) == 0 { // OAI-PMH has an element record, too
			continue
		}
		i := of.item(line)
		switch e.status {
		case "url_delete":
			i.reject("it deletes URLs (update_status): only what a URN leads to is imported")
		case "url_insert":
			i.loseField("update_status", "that its URLs are further ones (url_insert): the others are not in the input")
		}
		return i, nil
	}
}

func attributeOf(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// item makes a name of a record. The address whose role is primary is first.
func (r *epicurRecord) item(line int64) *item {
	i := newItem(line, "")
	unmapped := r.names("record")
	for _, id := range r.Identifiers {
		if name := strings.TrimSpace(id.Text); strings.HasPrefix(id.Scheme, "urn:") && i.entry.Name == "" {
			i.nameEncoded("", name, name)
			i.input = name
		} else {
			i.loseField("identifier", "its further identifier %.200s", name)
		}
		unmapped = append(unmapped, id.names("identifier")...)
	}
	for _, resource := range r.Resources {
		unmapped = append(unmapped, resource.names("resource")...)
		t := registry.Target{}
		for _, format := range resource.Formats {
			if text := strings.TrimSpace(format.Text); format.Scheme == "imt" && t.Type == "" { // a media type
				t.Type = text
			} else if text != "" {
				i.loseField("format", "the format %.100s (%.40s) of a resource", text, format.Scheme)
			}
			unmapped = append(unmapped, format.names("format")...)
		}
		for _, id := range resource.Identifiers {
			t.URI, t.Priority = strings.TrimSpace(id.Text), 1
			if id.Role == "primary" {
				t.Priority = 0
			}
			i.to(t)
			unmapped = append(unmapped, id.names("resource.identifier")...)
		}
	}
	for _, of := range r.VersionOf {
		i.loseField("isVersionOf", "that it is a version of %.200s", strings.TrimSpace(of.Text))
	}
	slices.Sort(unmapped)
	i.loseMembers(slices.Compact(unmapped))
	return i
}
