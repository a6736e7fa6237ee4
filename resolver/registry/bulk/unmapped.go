package bulk

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
)

// unmappedMembers returns the names, behind a prefix, of those members of a JSON object that are not known, and not
// empty.
func unmappedMembers(object json.RawMessage, prefix string, known ...string) []string {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil // whoever has decoded it says so
	}
	var names []string
	for name, value := range members {
		if !slices.Contains(known, name) && !isEmptyJSON(value) {
			names = append(names, prefix+name)
		}
	}
	slices.Sort(names)
	return names
}

// unmappedIn is unmappedMembers of all objects of a list, or of one object.
func unmappedIn(list json.RawMessage, prefix string, known ...string) []string {
	var objects []json.RawMessage
	if json.Unmarshal(list, &objects) != nil {
		return unmappedMembers(list, prefix, known...)
	}
	var names []string
	for _, object := range objects {
		names = append(names, unmappedMembers(object, prefix, known...)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isEmptyJSON reports whether a value says nothing.
func isEmptyJSON(value json.RawMessage) bool {
	return slices.Contains([]string{"null", `""`, "[]", "{}"}, strings.Join(strings.Fields(string(value)), ""))
}

// unknownXML are the attributes and elements that an element of a foreign format has beside those that are read.
type unknownXML struct {
	Attributes []xml.Attr   `xml:",any,attr"`
	Elements   []unknownTag `xml:",any"`
}

type unknownTag struct {
	XMLName xml.Name
}

// names returns the names of both, behind that of their element.
func (u *unknownXML) names(element string) []string {
	names := u.elementNames(element)
	for _, a := range u.Attributes {
		isSchema := a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || a.Name.Local == "schemaLocation"
		if !isSchema && strings.TrimSpace(a.Value) != "" {
			names = append(names, element+"@"+a.Name.Local)
		}
	}
	return names
}

// elementNames returns the names of the elements alone.
func (u *unknownXML) elementNames(element string) []string {
	names := make([]string, 0, len(u.Elements))
	for _, e := range u.Elements {
		names = append(names, element+"."+e.XMLName.Local)
	}
	return names
}
