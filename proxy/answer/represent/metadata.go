package represent

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/urnd/urnd/resolver/registry/title"
)

// The names of metadata members by part, ignoring case; the first member with a value is used. Those of other
// parts are in package title, for forms and imports. DESC is a value of handles.
var (
	descriptionKeys = []string{"description", "abstract", "dc.description", "desc"}
	publisherKeys   = []string{"publisher", "dc.publisher", "datacite.publisher"}
	licenseKeys     = []string{"license", "licence", "rights", "dc.rights"}
	typeKeys        = []string{"type", "resourceType", "dc.type", "datacite.resourcetype"}
	languageKeys    = []string{"language", "inLanguage", "dc.language"}
)

// TitleOf returns the title in the registry metadata of a name, like ParseMetadata.
func TitleOf(text string) string {
	var m members
	if text == "" || len(text) > maxInput || json.Unmarshal([]byte(text), &m.all) != nil {
		return ""
	}
	m.fold()
	return line(first(m, title.Members(), plain), maxText)
}

// ParseMetadata parses the registry metadata of a name, a JSON object with free members. Unknown members and
// values of an unexpected type are ignored. A text may be a list, of which the first element is used; a
// creator may be a text, or an object with name and uri or orcid. Values above the limits are truncated.
func ParseMetadata(text string) Metadata {
	var m members
	if len(text) > maxInput || json.Unmarshal([]byte(text), &m.all) != nil {
		return Metadata{}
	}
	m.fold()
	parsed := Metadata{
		Title:       first(m, title.Members(), plain),
		Description: first(m, descriptionKeys, plain),
		Creators:    list(m, title.CreatorMembers(), agent),
		Publisher:   first(m, publisherKeys, plain),
		Issued:      first(m, title.YearMembers(), issued),
		License:     first(m, licenseKeys, license),
		Keywords:    list(m, title.KeywordMembers(), plain),
		Type:        first(m, typeKeys, plain),
		Language:    first(m, languageKeys, plain),
	}
	return parsed.tidied()
}

// tidied returns metadata within the limits, with single-line texts: see Work.tidied.
func (m Metadata) tidied() Metadata {
	m.Title, m.Description, m.Publisher = line(m.Title, maxText), line(m.Description, maxLong),
		line(m.Publisher, maxText)
	m.Issued, m.Type, m.Language = date(m.Issued), line(m.Type, maxText), language(m.Language)
	if uri := webAddress(m.License); uri != "" {
		m.License = uri
	} else {
		m.License = line(m.License, maxText)
	}
	m.Keywords = lines(m.Keywords)
	var creators []Agent
	for _, a := range m.Creators[:min(len(m.Creators), maxList)] {
		a.Name, a.URI = line(a.Name, maxText), webAddress(a.URI)
		if a.Type != person && a.Type != organization {
			a.Type = ""
		}
		if a.Name != "" {
			creators = append(creators, a)
		}
	}
	m.Creators = creators
	return m
}

// members are the members of an object.
type members struct {
	all map[string]json.RawMessage
	// folded has the members by names in lower case; of several equal names, the one in lower case, or none.
	folded map[string]json.RawMessage
}

func (m *members) fold() {
	m.folded = make(map[string]json.RawMessage, len(m.all))
	twice := make(map[string]bool)
	for name, value := range m.all {
		lowered := strings.ToLower(name)
		_, was := m.folded[lowered]
		twice[lowered] = twice[lowered] || was
		m.folded[lowered] = value
	}
	for name := range twice { // otherwise the order of the map would decide
		if !twice[name] {
			continue
		}
		delete(m.folded, name)
		if value, ok := m.all[name]; ok {
			m.folded[name] = value
		}
	}
}

// list returns the values of the first member that has some, parsed by read; values for which read returns
// false are omitted.
func list[T any](m members, keys []string, read func(json.RawMessage) (T, bool)) []T {
	for _, key := range keys {
		value, ok := m.folded[strings.ToLower(key)]
		if !ok {
			continue
		}
		var all []T
		for _, one := range values(value) {
			if v, ok := read(one); ok {
				all = append(all, v)
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// first returns the first value of the first member that has one.
func first(m members, keys []string, read func(json.RawMessage) (string, bool)) string {
	if all := list(m, keys, read); len(all) > 0 {
		return all[0]
	}
	return ""
}

// values returns the elements of a list, or the value itself; at most maxList.
func values(text json.RawMessage) []json.RawMessage {
	if !bytes.HasPrefix(text, []byte("[")) {
		return []json.RawMessage{text}
	}
	var all []json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all[:min(len(all), maxList)]
}
