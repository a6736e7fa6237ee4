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

// The indexes of values. Those of URLs begin with 1, and the others stay what they are when targets come and go.
const (
	maxHandleURLs       = 100
	indexEmail          = 201
	indexTitle          = 202
	indexLocations      = 203
	indexAlias          = 204
	handleLocationsType = "10320/loc"
)

func (v handleValue) index() string { return strconv.Itoa(v.Index) }

// handleValues returns the values of a name as a handle: where it leads, best first, and what else its record says.
func (a *Responder) handleValues(name string, answer resolver.Answer, record *resolver.Record) []handleValue {
	var values []handleValue
	add := func(index int, kind, text string) {
		if text != "" {
			values = append(values, handleValue{index, kind, handleData{"string", text}, lifetime(answer), timestamp(record.Changed)})
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

// aliasOf returns the handle that a name is an alias of, "" where it is none, or one of a name that is no handle. The record of an alias is that
// of the name behind it, or of a prefix of that, which ends where a part of names does.
func (a *Responder) aliasOf(name string, record *resolver.Record) string {
	if record.Name == name || mayBePrefix(record.Name) {
		return ""
	}
	return a.config.Handles.Of(record.Name)
}

// emailOf returns the mail address in a contact, "" for another one.
func emailOf(contact string) string {
	const scheme = "mailto:"
	if len(contact) > len(scheme) && strings.EqualFold(contact[:len(scheme)], scheme) {
		contact = contact[len(scheme):]
	}
	local, domain, ok := strings.Cut(contact, "@")
	if !ok || local == "" || domain == "" || strings.ContainsAny(contact, " \t\r\n<>\"(),:;/?") || strings.Contains(domain, "@") {
		return ""
	}
	return contact
}

// locationsXML is a value of the type 10320/loc.
type locationsXML struct {
	XMLName   xml.Name      `xml:"locations"`
	Locations []locationXML `xml:"location"`
}

// locationXML is a location. Attributes that the Handle System does not know are for locatt, by which clients choose.
type locationXML struct {
	ID       int    `xml:"id,attr"`
	HRef     string `xml:"href,attr"`
	Weight   int    `xml:"weight,attr"` // the chance to be chosen: only the one to which the name leads has it
	Country  string `xml:"country,attr,omitempty"`
	Context  string `xml:"context,attr,omitempty"`
	Type     string `xml:"type,attr,omitempty"`
	Language string `xml:"language,attr,omitempty"`
	Rel      string `xml:"rel,attr,omitempty"`
	Title    string `xml:"title,attr,omitempty"`
}

// handleLocations returns all that a name leads to, and its other links, as a value 10320/loc; "" for no more than one URL.
func handleLocations(answer resolver.Answer) string {
	var of locationsXML
	isMore := false
	for i, link := range answer.Links() {
		l := locationXML{ID: i, HRef: link.URI, Type: link.Type, Language: link.Language, Rel: link.Rel, Title: link.Title}
		if i == 0 {
			l.Weight = 1
		}
		if isCountry(link.Context) {
			l.Country = strings.ToLower(link.Context)
		} else {
			l.Context = link.Context
		}
		of.Locations = append(of.Locations, l)
		isMore = isMore || i > 0 || l != locationXML{HRef: link.URI, Weight: 1}
	}
	if !isMore {
		return ""
	}
	text, err := xml.Marshal(of)
	if err != nil {
		return ""
	}
	return string(text)
}

// isCountry reports whether a context is a country by its code of two letters (ISO 3166).
func isCountry(context string) bool {
	return len(context) == 2 && strings.Trim(strings.ToLower(context), "abcdefghijklmnopqrstuvwxyz") == ""
}
