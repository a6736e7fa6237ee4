package answer

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// handleValue is a value of a handle: RFC 3651 section 3.1.
type handleValue struct {
	Index     int        `json:"index"`
	Type      string     `json:"type"`
	Data      handleData `json:"data"`
	TTL       int64      `json:"ttl"` // in seconds
	Timestamp string     `json:"timestamp"`
}

type handleData struct {
	Format string `json:"format"`
	Value  string `json:"value"`
}

// Indexes of values. Those of URLs begin with 1; the others are fixed, so that they do not depend on the
// number of targets.
const (
	maxHandleURLs       = 100
	indexEmail          = 201
	indexTitle          = 202
	indexLocations      = 203
	indexAlias          = 204
	handleLocationsType = "10320/loc"
)

func (v handleValue) index() string { return strconv.Itoa(v.Index) }

// handleValues returns the values of a name as a handle: its targets, best first, and the data of its record.
func (a *Responder) handleValues(name string, answer resolver.Answer, record *resolver.Record) []handleValue {
	var values []handleValue
	add := func(index int, kind, text string) {
		if text != "" {
			values = append(values, handleValue{
				index, kind,
				handleData{"string", text},
				lifetime(answer),
				timestamp(record.Changed),
			})
		}
	}
	for i, l := range answer.Locations[:min(len(answer.Locations), maxHandleURLs)] {
		add(1+i, "URL", l.URI)
	}
	add(indexEmail, "EMAIL", emailOf(record.Contact))
	add(indexTitle, "DESC", titleOf(record.Metadata))
	add(indexLocations, handleLocationsType, handleLocations(answer))
	add(indexAlias, "HS_ALIAS", a.aliasOf(name, record))
	return values
}

// aliasOf returns the handle of the name that a name is an alias of; "" if it is no alias, or the other name
// is no handle. The record of an alias is that of its target, or of a prefix of it, which ends with a
// delimiter.
func (a *Responder) aliasOf(name string, record *resolver.Record) string {
	if record.Name == name || mayBePrefix(record.Name) {
		return ""
	}
	return a.config.Handles.Find(record.Name)
}

// emailOf returns the mail address in a contact, "" for other contacts.
func emailOf(contact string) string {
	const scheme = "mailto:"
	if len(contact) > len(scheme) && strings.EqualFold(contact[:len(scheme)], scheme) {
		contact = contact[len(scheme):]
	}
	local, domain, ok := strings.Cut(contact, "@")
	if !ok || local == "" || domain == "" || strings.ContainsAny(contact, " \t\r\n<>\"(),:;/?") ||
		strings.Contains(domain, "@") {
		return ""
	}
	return contact
}

// locationsXML is a value of the type 10320/loc.
type locationsXML struct {
	XMLName   xml.Name      `xml:"locations"`
	Locations []locationXML `xml:"location"`
}

// locationXML is a location. Attributes that the Handle System does not define are for locatt, by which
// clients select a location.
type locationXML struct {
	ID       int    `xml:"id,attr"`
	HRef     string `xml:"href,attr"`
	Weight   int    `xml:"weight,attr"` // probability of being selected: 1 for the redirect target, 0 for all others
	Country  string `xml:"country,attr,omitempty"`
	Context  string `xml:"context,attr,omitempty"`
	Type     string `xml:"type,attr,omitempty"`
	Language string `xml:"language,attr,omitempty"`
	Rel      string `xml:"rel,attr,omitempty"`
	Title    string `xml:"title,attr,omitempty"`
}

// handleLocations returns all targets and links of a name as a value 10320/loc; "" if they are not more than
// one URL.
func handleLocations(answer resolver.Answer) string {
	var of locationsXML
	more := false
	for i, link := range answer.Links() {
		l := locationXML{
			ID: i, HRef: link.URI, Type: link.Type, Language: link.Language, Rel: link.Rel,
			Title: link.Title,
		}
		if i == 0 {
			l.Weight = 1
		}
		if isCountry(link.Context) {
			l.Country = strings.ToLower(link.Context)
		} else {
			l.Context = link.Context
		}
		of.Locations = append(of.Locations, l)
		more = more || i > 0 || l != locationXML{HRef: link.URI, Weight: 1}
	}
	if !more {
		return ""
	}
	text, err := xml.Marshal(of)
	if err != nil {
		return ""
	}
	return string(text)
}

// isCountry reports whether a context has the form of a two-letter country code (ISO 3166).
func isCountry(context string) bool {
	return len(context) == 2 && strings.Trim(strings.ToLower(context), "abcdefghijklmnopqrstuvwxyz") == ""
}
