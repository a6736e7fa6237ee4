package represent

import (
	"encoding/json"
	"strings"
)

// Types of agents in schema.org.
const (
	person       = "Person"
	organization = "Organization"
)

const orcidBase = "https://orcid.org/"

// plain parses a text, a number, or an object that has the text as its name, title or value.
func plain(value json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(value, &text) == nil {
		text = line(text, maxLong)
		return text, text != ""
	}
	var number json.Number
	if json.Unmarshal(value, &number) == nil {
		return number.String(), number != ""
	}
	o := object(value)
	text = line(o.text("name", "title", "value", "@value"), maxLong)
	return text, text != ""
}

// issued parses a date: a text, or a year as a number.
func issued(value json.RawMessage) (string, bool) {
	text, _ := plain(value)
	text = date(text)
	return text, text != ""
}

// license parses a license: a text, or an object with its uri or name.
func license(value json.RawMessage) (string, bool) {
	if text := object(value).text("uri", "url", "@id", "rightsUri"); webAddress(text) != "" {
		return text, true
	}
	return plain(value)
}

// agent parses a name, or an object with name, and uri or orcid.
func agent(value json.RawMessage) (Agent, bool) {
	name, ok := plain(value)
	if !ok {
		return Agent{}, false
	}
	o := object(value)
	a := Agent{Name: name, URI: webAddress(o.text("uri", "url", "@id"))}
	if orcid := strings.TrimSpace(o.text("orcid")); isORCID(strings.TrimPrefix(orcid, orcidBase)) {
		a.URI = orcidBase + strings.TrimPrefix(orcid, orcidBase)
	}
	switch strings.ToLower(o.text("type", "@type", "nameType")) {
	case "person", "personal":
		a.Type = person
	case "organization", "organizational", "organisation":
		a.Type = organization
	default:
		if strings.HasPrefix(a.URI, orcidBase) { // only persons have an ORCID
			a.Type = person
		}
	}
	return a, true
}

// isORCID reports whether a text is four groups of four digits, the last of which may be X.
func isORCID(text string) bool {
	if len(text) != len("0000-0000-0000-0000") {
		return false
	}
	for i, c := range []byte(text) {
		switch {
		case i%5 == 4:
			if c != '-' {
				return false
			}
		case c == 'X' && i == len(text)-1:
		case c < '0' || c > '9':
			return false
		}
	}
	return true
}

// objectValue has the members of an object.
type objectValue map[string]json.RawMessage

// object returns the members of an object; nil for other values.
func object(value json.RawMessage) objectValue {
	var o objectValue
	if json.Unmarshal(value, &o) != nil {
		return nil
	}
	return o
}

// text returns the first member that is a non-empty text.
func (o objectValue) text(names ...string) string {
	for _, name := range names {
		var text string
		if json.Unmarshal(o[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}
