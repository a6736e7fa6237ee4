package foreign

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"mime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"github.com/urnd/urnd/resolver/registry"
)

// handleLocations is a value 10320/loc (Handle.net technical manual, chapter 5.3).
type handleLocations struct {
	XMLName  xml.Name `xml:"locations"`
	ChooseBy string   `xml:"chooseby,attr"`
	Status   string   `xml:"http_sc,attr"`
	unknownXML
	Locations []handleLocation `xml:"location"`
}

// handleLocation is one location. Weight is its share of the requests; 0 is none, unless a client selects it.
type handleLocation struct {
	HRef     string `xml:"href,attr"`
	Template string `xml:"href_template,attr"`
	Weight   string `xml:"weight,attr"`
	Country  string `xml:"country,attr"`
	Role     string `xml:"http_role,attr"`
	Type     string `xml:"type,attr"`
	Language string `xml:"language,attr"`
	Rel      string `xml:"rel,attr"`
	Title    string `xml:"title,attr"`
	Context  string `xml:"context,attr"`
	unknownXML
}

// defaultChooseBy is the default by which proxies of the Handle System select a location.
const defaultChooseBy = "locatt,country,weighted"

// maxHandleLocations bounds a value 10320/loc, in bytes.
const maxHandleLocations = 64 << 10

var errLongLocations = fmt.Errorf("longer than %d bytes", maxHandleLocations)

// parseHandleLocations parses a value 10320/loc. The decoder supports no custom entities, so the text cannot
// expand.
func parseHandleLocations(text string) (of handleLocations, err error) {
	if len(text) > maxHandleLocations {
		return of, errLongLocations
	}
	if err := xml.Unmarshal([]byte(text), &of); err != nil {
		return of, fmt.Errorf("invalid locations XML: %w", err)
	}
	if len(of.Locations) > registry.MaxTargets {
		return of, fmt.Errorf("more than %d locations", registry.MaxTargets)
	}
	return of, nil
}

// locations converts the locations of a value 10320/loc of a handle.
func (i *Item) locations(what, handle, text string) {
	of, err := parseHandleLocations(text)
	if err != nil {
		i.addUnmappedField("10320/loc", "%s: %v", what, err)
		return
	}
	if of.ChooseBy != "" && of.ChooseBy != defaultChooseBy {
		i.addUnmappedField("chooseby", "%s: selection of locations: %.100q", what, of.ChooseBy)
	}
	i.redirects(of.Status)
	if names := of.names("locations"); len(names) > 0 {
		i.addUnmapped(names, "%s: %.500s", what, strings.Join(names, ", "))
	}
	weights := make([]float64, len(of.Locations))
	for n := range of.Locations {
		weights[n] = of.Locations[n].weight()
	}
	if chance := len(slices.DeleteFunc(slices.Clone(weights), func(w float64) bool { return w <= 0 })); chance > 1 {
		i.addUnmappedField("weight",
			"%s: random selection of one of %d locations by weight: the greatest weight is first",
			what, chance)
	}
	for n := range of.Locations {
		if of.Locations[n].HRef != "" && of.Locations[n].Template != "" {
			i.addUnmappedField("href_template", "%s: template of a location with an address: %.200s",
				what, of.Locations[n].Template)
		}
		t, err := i.locationOf(what, handle, &of.Locations[n])
		if err != nil {
			i.addUnmappedField("location", "%s: location %d: %v", what, n+1, err)
			continue
		}
		t.Priority = rankOf(weights, weights[n])
		i.locate(t)
	}
}

// weight returns the weight of a location, 1 if it is missing or not a number.
func (l *handleLocation) weight() float64 {
	w, err := strconv.ParseFloat(strings.TrimSpace(l.Weight), 64)
	if err != nil || math.IsNaN(w) {
		return 1
	}
	return max(w, 0)
}

// rankOf returns the number of distinct weights above the given one, which is the priority of a location.
func rankOf(weights []float64, of float64) int {
	all := slices.Clone(weights)
	slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
	return slices.Index(slices.Compact(all), of)
}

var (
	errNoHRef         = errors.New("no address")
	errHandleTemplate = errors.New("template with variables other than {hdl}")
)

// locationOf converts a location to a target. Attributes that a target lacks are put into its note and listed
// as unmapped.
func (i *Item) locationOf(what, handle string, l *handleLocation) (registry.Target, error) {
	t := registry.Target{URI: l.HRef, Title: l.Title, Context: l.Context}
	if t.URI == "" {
		t.URI = strings.ReplaceAll(l.Template, "{hdl}", escapedID(handle))
	}
	switch {
	case t.URI == "":
		return t, errNoHRef
	case l.HRef == "" && strings.ContainsAny(t.URI, "{}"):
		return t, errHandleTemplate
	}
	if l.Country != "" {
		t.Context = strings.ToUpper(l.Country)
	}
	var notes []string
	keep := func(known bool, to *string, name, value string) {
		switch {
		case value == "":
		case known:
			*to = value
		default:
			notes = append(notes, name+"="+value)
			i.addUnmappedField(name, "%s: %s=%.100q of %.200s: stored as a note", what, name, value, t.URI)
		}
	}
	keep(isMediaType(l.Type), &t.Type, "type", l.Type)
	_, err := language.Parse(l.Language)
	keep(err == nil, &t.Language, "language", l.Language)
	keep(registry.CheckRelation(l.Rel) == nil, &t.Rel, "rel", l.Rel)
	// A URL that negotiates by Accept itself has no single type: as a target with a type it would only get
	// clients that accept that type.
	keep(l.Role == "conneg" && t.Type != "", new(string), "http_role", l.Role)
	if names := l.elementNames("location"); len(names) > 0 {
		i.addUnmapped(names, "%s: %.500s of %.200s", what, strings.Join(names, ", "), t.URI)
	}
	for _, a := range l.Attributes {
		keep(a.Name.Local == "id", new(string), a.Name.Local, a.Value)
	}
	const most = 1 << 10
	t.Note = strings.ToValidUTF8(strings.Join(notes, ", "), "")
	if len(t.Note) > most {
		t.Note = strings.ToValidUTF8(t.Note[:most], "")
	}
	return t, nil
}

func isMediaType(text string) bool {
	kind, _, err := mime.ParseMediaType(text)
	return err == nil && strings.Contains(kind, "/")
}

// locate adds a target of a handle. A duplicate, as a URL and as a location, is merged.
func (i *Item) locate(t registry.Target) {
	plain := registry.Target{URI: t.URI}
	isThere := func(other registry.Target) bool { return other == t || other.URI == t.URI && t == plain }
	if slices.ContainsFunc(i.Entry.Targets, isThere) {
		return
	}
	if n := slices.Index(i.Entry.Targets, plain); n >= 0 {
		i.Entry.Targets[n] = t
		return
	}
	i.to(t)
}
