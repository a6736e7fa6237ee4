package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
)

// format is a format of the description of a name.
type format struct {
	name        string // in URLs: /uri-res/N2C.<name>?<uri>
	mediaType   string // in Accept
	contentType string
	// isAnswer is true if a name itself can reply in this format: see preferred.
	isAnswer bool
	// linked is true if linksets contain it.
	linked bool
	// write renders the registry's metadata of a name; nil for formats that all names have.
	write func(represent.Work) []byte
}

// Names of formats in links.
const (
	formatLinkset = "linkset"
	formatLD      = "jsonld"
	formatHTML    = "html"
)

// formats returns the formats; the first one is for clients that accept all.
func formats() []format {
	all := []format{
		{name: "description", mediaType: typeLD, contentType: typeLD},
		{name: "json", mediaType: typeJSON, contentType: typeJSON, linked: true},
		{name: "csv", mediaType: typeCSV, contentType: "text/csv; charset=utf-8; header=present"},
		{name: formatHTML, mediaType: pages.Type, contentType: pages.ContentType, linked: true},
		{name: "text", mediaType: typePlain, contentType: "text/plain; charset=utf-8"},
		{name: formatLinkset, mediaType: linksetType, contentType: linksetType, isAnswer: true},
		{name: "links", mediaType: linkTextType, contentType: linkTextType, isAnswer: true},
		{name: formatQR, contentType: typeSVG},
	}
	for _, f := range represent.Formats() {
		typed := f.MediaType != ""
		all = append(all, format{f.Name, f.MediaType, f.ContentType, typed, typed, f.Write})
	}
	return all
}

func (f *format) isLinkset() bool { return f.mediaType == linksetType || f.mediaType == linkTextType }

// isLinkedOf reports whether the linkset of a name contains the format; record is nil for a name that is not
// in the registry.
func (f *format) isLinkedOf(record *resolver.Record) bool {
	return f.linked && (f.write == nil || record != nil || f.name == formatLD)
}

// formatOf returns the requested format of a description, by name or by Accept. The error lists the formats.
// A client that accepts all gets urnd's own description; a client that accepts JSON-LD explicitly gets that
// of the named object.
func formatOf(q *Request) (*format, error) {
	all := formats()
	if q.Format == "" {
		accept := withoutParameters(q.Header)
		chosen := all[0].mediaType
		if best, _, err := contenttype.GetAcceptableMediaTypeFromHeader(accept, typesOf(all)); err == nil &&
			accept != "" {
			chosen = best.MIME()
		}
		asksLD := chosen == typeLD && strings.Contains(accept, typeLD)
		return find(all, func(f *format) bool { return f.mediaType == chosen && (!asksLD || f.name == formatLD) }), nil
	}
	if found := find(all, func(f *format) bool { return f.name == q.Format }); found != nil {
		return found, nil
	}
	names := make([]string, 0, len(all))
	for i := range all {
		names = append(names, all[i].name)
	}
	return nil, &resolver.Negative{
		Kind:   resolver.ErrService,
		Reason: "unknown format; supported: " + strings.Join(names, ", "),
	}
}

func find(all []format, is func(*format) bool) *format {
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

func typesOf(all []format) []contenttype.MediaType {
	types := make([]contenttype.MediaType, 0, len(all))
	for i := range all {
		if all[i].mediaType != "" {
			types = append(types, contenttype.NewMediaType(all[i].mediaType))
		}
	}
	return types
}

// MayWantDocument reports whether a value of Accept may prefer another reply of a name than a redirect;
// describes is true if some names return their descriptions. It is a fast check, false for most clients:
// browsers, and programs that accept everything.
func MayWantDocument(accept string, describes bool) bool {
	if len(accept) < len("text/turtle") {
		return false
	}
	for i := range len(accept) {
		if 'A' <= accept[i] && accept[i] <= 'Z' { // few clients write types in upper case
			accept = strings.ToLower(accept)
			break
		}
	}
	if strings.Contains(accept, "/linkset") || MayWantTrace(accept) {
		return true
	}
	if !describes {
		return false
	}
	for _, part := range [...]string{"+json", "/turtle", "/x-", "/vnd."} {
		if strings.Contains(accept, part) {
			return true
		}
	}
	return false
}

// withoutParameters returns Accept in lower case, with weights as the only parameters: profiles (RFC 6906)
// and character sets are ignored.
func withoutParameters(header httpmessage.Header) string {
	var b strings.Builder
	for i, r := range parseAccept(header) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s;q=%.3f", r.Type, r.Quality)
	}
	return b.String()
}

// preferred returns the format that a client prefers to a redirect of a name; nil for most clients. A linkset
// is returned only to clients that name its type. Other formats are also formats of resources, so they are
// returned only if describes is true. hasType reports whether a target of the name has a media type: the
// client is redirected to it.
func preferred(accept []httpmessage.MediaRange, describes bool, hasType func(mediaType string) bool) *format {
	slices.SortStableFunc(accept, func(a, b httpmessage.MediaRange) int { return cmp.Compare(b.Quality, a.Quality) })
	all := formats()
	for _, r := range accept {
		if r.Quality == 0 || r.Type == pages.Type || strings.Contains(r.Type, "*") || hasType(r.Type) {
			return nil
		}
		chosen := find(all, func(f *format) bool {
			return f.mediaType == r.Type && (f.isLinkset() || describes && f.isAnswer)
		})
		if chosen != nil || !describes {
			return chosen
		}
	}
	return nil
}
