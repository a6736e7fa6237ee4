// Package represent renders the metadata of a name in formats for citation and harvesting: JSON-LD, Turtle,
// CSL-JSON, BibTeX, RIS, a line of text, and the ERC of ARKs (draft-kunze-ark-42). A Work enters, bytes
// leave; it has no state and is deterministic. It does not depend on requests, caches or the registry.
//
// All texts are untrusted: no control character, line end or delimiter in them affects the text around them.
package represent

import "time"

// States of a name; Unknown is the default.
const (
	Active    = "active"
	Reserved  = "reserved"
	Withdrawn = "withdrawn"
	Unknown   = "unknown"
)

// Work is the metadata of a name and of the named object. Unknown values are zero. It is a value; the formats
// do not modify the data that it refers to.
type Work struct {
	Name   string // canonical identifier, such as "urn:nbn:fi-fe1" or "ark:12345/x1"
	URL    string // absolute URL of the name at this site: the subject, and the URL in citations
	Status string // one of the states above; "" is Unknown

	Since      time.Time // beginning of the state
	Reason     string    // reason of the withdrawal
	Successors []string  // identifiers that replace a withdrawn name
	Others     []string  // other identifiers of the same object

	// Locations are the targets. They are not rendered for a withdrawn name, which no longer names that
	// content.
	Locations []Link
	Metadata  Metadata

	// Support is the commitment of the site, for the ERC of ARKs; nil omits that part.
	Support *Support
}

// Link is a location with its attributes.
type Link struct {
	URI      string
	Type     string // media type
	Language string // language tag of RFC 5646
	Title    string
}

// Metadata describes the named object. Unknown values are zero.
type Metadata struct {
	Title       string
	Description string
	Creators    []Agent
	Publisher   string
	Issued      string // date of ISO 8601 in its known precision: 2026, 2026-11 or 2026-11-26
	License     string // a URI or a text
	Keywords    []string
	Type        string // of the object: a term of DataCite, DCMI or schema.org, or any other
	Language    string // of the object, a language tag of RFC 5646
}

// Agent is a person or an organization.
type Agent struct {
	Name string
	URI  string // such as an ORCID
	Type string // Person or Organization of schema.org, "" if unknown
}

// Support is a commitment to a name: the elements of erc-support, of draft-kunze-ark-42 section 5.1.1.
type Support struct {
	Who   string // party that makes the commitment
	What  string // the commitment, such as "Permanent: Stable Content:"
	When  string // its date
	Where string // URL of further information
}

func (m Metadata) isZero() bool {
	return m.Title == "" && m.Description == "" && len(m.Creators) == 0 && m.Publisher == "" && m.Issued == "" &&
		m.License == "" &&
		len(m.Keywords) == 0 && m.Type == "" && m.Language == ""
}

// tidied returns a work in which all texts are single lines without control characters, all identifiers are
// URIs, and nothing exceeds the limits of metadata.
func (w Work) tidied() Work {
	w.Name, w.URL, w.Reason = address(w.Name), address(w.URL), line(w.Reason, maxText)
	switch w.Status {
	case Active, Reserved, Withdrawn:
	default:
		w.Status = Unknown
	}
	w.Successors, w.Others = addresses(w.Successors), addresses(w.Others)
	var locations []Link
	for _, l := range w.Locations[:min(len(w.Locations), maxLinks)] {
		l = Link{
			URI: address(l.URI), Type: mediaType(l.Type), Language: language(l.Language),
			Title: line(l.Title, maxText),
		}
		if l.URI != "" && w.Status != Withdrawn {
			locations = append(locations, l)
		}
	}
	w.Locations = locations
	w.Metadata = w.Metadata.tidied()
	if w.Support != nil {
		w.Support = &Support{
			Who: line(w.Support.Who, maxText), What: line(w.Support.What, maxText),
			When: line(w.Support.When, maxText), Where: line(w.Support.Where, maxText),
		}
	}
	return w
}

// subject returns the URI that identifies the work: its URL, or else its name.
func (w Work) subject() string {
	if w.URL != "" {
		return w.URL
	}
	return w.Name
}

// title returns the title, or else the name.
func (w Work) title() string {
	if w.Metadata.Title != "" {
		return w.Metadata.Title
	}
	return w.Name
}

// note returns a line about the state of a name that does not resolve; "" for others.
func (w Work) note() string {
	if w.Status != Withdrawn && w.Status != Reserved {
		return ""
	}
	note := w.Status
	if !w.Since.IsZero() {
		note += " since " + w.Since.UTC().Format(time.DateOnly)
	}
	if w.Reason != "" {
		note += ": " + w.Reason
	}
	return note
}
