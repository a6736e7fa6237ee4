package foreign

import (
	"encoding/xml"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// DNB reads URNs of the Deutsche Nationalbibliothek: the JSON of the URN service (API v2), or the transfer
// format epicur.
func DNB(in *Input, _ string) (Entries, error) {
	if !in.isJSON() {
		return epicur(in), nil
	}
	return entries(newDocuments(in, in, "items", "urns").next, "URN of the URN service", func(r *record, i *Item) {
		urn := r.string("urn")
		i.Input = shown(urn)
		i.nameEncoded("", urn, urn)
		i.describe("comment", r.string("comment"))
		r.skip("self", "namespace", "myUrls") // links derived from the URN
		if address := r.textOr("urls"); address != "" {
			i.reject("addresses are in another document, %.200q", address)
		}
		urls := r.records("urls.", "urls")
		for _, u := range urls {
			priority := 0
			u.take(&priority, "priority")
			u.skip("urn", "self")
			// The URN service puts the greatest number first, urnd the least one.
			i.to(registry.Target{URI: u.string("url"), Priority: -priority})
		}
		text := r.string("successor")
		successor, err := successorURN(text)
		switch {
		case err != nil:
			i.reject("successor %.200q: %w", text, err)
		case successor != "" && len(urls) == 0:
			i.Entry.Status, i.Entry.Reason, i.Entry.Successors = registry.Withdrawn, "superseded", []string{successor}
		case text != "":
			i.addUnmappedField("successor", "successor %.200s: the URN itself still has a target", text)
		}
	}), nil
}

// successorURN returns the URN of a successor, which is a URN, or the URL of its resource with the URN in the
// path, possibly percent-encoded. It returns "" if there is none.
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

// epicurRecord is an XML element record.
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

// epicur reads the transfer format epicur.
func epicur(in *Input) Entries {
	elements := newXMLElements(in)
	status := "" // the type of update_status: the operation on the records that follow
	elements.passed = func(start xml.StartElement) {
		switch start.Name.Local {
		case "epicur":
			status = ""
		case "update_status":
			status = attributeOf(start, "type")
		}
	}
	return func() (*Item, error) {
		var of epicurRecord
		var line int64
		for len(of.Identifiers) == 0 { // skip the record elements of OAI-PMH
			of = epicurRecord{}
			var err error
			if line, err = elements.next("record", &of); err != nil {
				return nil, err
			}
		}
		i := of.item(line)
		switch status {
		case "url_delete":
			i.reject("deletion of URLs (update_status): only registrations are imported")
		case "url_insert":
			i.addUnmappedField("update_status", "url_insert: the previous URLs are not in the input")
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

// item converts a record to a name. The address with the role primary gets priority 0.
func (r *epicurRecord) item(line int64) *Item {
	i := newItem(line, "")
	unmapped := r.names("record")
	for _, id := range r.Identifiers {
		if name := strings.TrimSpace(id.Text); strings.HasPrefix(id.Scheme, "urn:") && i.Entry.Name == "" {
			i.nameEncoded("", name, name)
			i.Input = name
		} else {
			i.addUnmappedField("identifier", "further identifier %.200s", name)
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
				i.addUnmappedField("format", "resource format %.100s (%.40s)", text, format.Scheme)
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
		i.addUnmappedField("isVersionOf", "version of %.200s", strings.TrimSpace(of.Text))
	}
	slices.Sort(unmapped)
	i.addUnmappedMembers(slices.Compact(unmapped))
	return i
}
