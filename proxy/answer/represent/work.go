// Package represent writes what is known of a name in the forms that programs and people cite and harvest: JSON-LD, Turtle, CSL-JSON,
// BibTeX, RIS, a line, and the ERC of ARKs. It is pure: a Work goes in, octets come out, the same for the same Work. It knows no request,
// no cache and no registry.
//
// All texts are taken to be hostile: no control character, line end or mark of a syntax in them changes what is around them.
package represent

import "time"

// The states of a name, and what is said where nobody knows it.
const (
	Active    = "active"
	Reserved  = "reserved"
	Withdrawn = "withdrawn"
	Unknown   = "unknown"
)

// Work is what is known of a name and of what it names. What is not known is zero. It is a value; writers do not change what it refers to.
type Work struct {
	Name   string // the canonical identifier, such as "urn:nbn:fi-fe1" or "ark:12345/x1"
	URL    string // the absolute URL of the name at this site, which citations show and whose description this is
	Status string // one of the states above; "" is Unknown

	Since      time.Time // since when it has this state
	Reason     string    // why it was withdrawn
	Successors []string  // what came instead of a withdrawn name: identifiers
	Others     []string  // other names of the same thing: identifiers

	// Locations are where it is. They are not written of a withdrawn name, since that content is no longer what it names.
	Locations []Link
	Metadata  Metadata

	// Support is what the site commits itself to, for the ERC of ARKs; nil leaves that part out.
	Support *Support
}

// Link is a place with what is known of it.
type Link struct {
	URI      string
	Type     string // the media type
	Language string // a tag of RFC 5646
	Title    string
}

// Metadata describes what a name names. What is not known is zero.
type Metadata struct {
	Title       string
	Description string
	Creators    []Agent
	Publisher   string
	Issued      string // a date of ISO 8601 as precise as it is known: 2026, 2026-11 or 2026-11-26
	License     string // a URI, or a text
	Keywords    []string
	Type        string // of the thing: a word of DataCite, DCMI or schema.org, or any other
	Language    string // of the thing, a tag of RFC 5646
}

// Agent is a person or an organization.
type Agent struct {
	Name string
	URI  string // such as that of an ORCID
	Type string // Person or Organization of schema.org, "" where it is not known
}

// Support is a commitment to a name: the elements of erc-support, of draft-kunze-ark-42 section 5.1.1.
type Support struct {
	Who   string // makes the commitment
	What  string // the commitment, such as "Permanent: Stable Content:"
	When  string // the date of it
	Where string // what says more
}

func (m Metadata) isZero() bool {
	return m.Title == "" && m.Description == "" && len(m.Creators) == 0 && m.Publisher == "" && m.Issued == "" && m.License == "" &&
		len(m.Keywords) == 0 && m.Type == "" && m.Language == ""
}

// tidied returns a work of which all texts are single lines without control characters, all identifiers are URIs, and nothing is longer
// than the bounds of metadata.
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
		l = Link{URI: address(l.URI), Type: mediaType(l.Type), Language: language(l.Language), Title: line(l.Title, maxText)}
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

// subject returns the URI that a work is described by: its URL, else its name.
func (w Work) subject() string {
	if w.URL != "" {
		return w.URL
	}
	return w.Name
}

// title returns the title, else the name.
func (w Work) title() string {
	if w.Metadata.Title != "" {
		return w.Metadata.Title
	}
	return w.Name
}

// note says in a line what readers of a citation must know of a name that leads nowhere; "" is nothing.
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
