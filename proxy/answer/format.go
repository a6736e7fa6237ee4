package answer

import (
	"fmt"
	"strings"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
)

// format is a format of what is known of a name.
type format struct {
	name        string // in URLs: /uri-res/N2C.<name>?<uri>
	mediaType   string // in Accept
	contentType string
	// isAnswer is whether a name itself answers with it, where a client would rather have it than a redirect.
	isAnswer bool
	// isLinked is whether linksets have it.
	isLinked bool
	// write writes what the registry knows of a name, nil for a format that all names have.
	write func(represent.Work) []byte
}

// The names of formats that links lead to.
const (
	formatLinkset = "linkset"
	formatLD      = "jsonld"
	formatHTML    = "html"
)

// formats returns the formats, first the one of those who accept all.
func formats() []format {
	all := []format{
		{name: "description", mediaType: typeLD, contentType: typeLD},
		{name: "json", mediaType: typeJSON, contentType: typeJSON, isLinked: true},
		{name: "csv", mediaType: typeCSV, contentType: "text/csv; charset=utf-8; header=present"},
		{name: formatHTML, mediaType: pages.Type, contentType: pages.ContentType, isLinked: true},
		{name: "text", mediaType: typePlain, contentType: "text/plain; charset=utf-8"},
		{name: formatLinkset, mediaType: linksetType, contentType: linksetType, isAnswer: true},
		{name: "links", mediaType: linkTextType, contentType: linkTextType, isAnswer: true},
		{name: formatQR, contentType: typeSVG},
	}
	for _, f := range represent.Formats() {
		isTyped := f.MediaType != ""
		all = append(all, format{f.Name, f.MediaType, f.ContentType, isTyped, isTyped, f.Write})
	}
	return all
}

func (f *format) isLinkset() bool { return f.mediaType == linksetType || f.mediaType == linkTextType }

// isLinkedOf reports whether the linkset of a name with a record, nil for none, has the format.
func (f *format) isLinkedOf(record *resolver.Record) bool {
	return f.isLinked && (f.write == nil || record != nil || f.name == formatLD)
}

// formatOf returns the format of a description that is asked for, by name or by Accept. The error says which there are. Who accepts all
// gets urnd's own description, as always, and who asks for JSON-LD that which says what the name names.
func formatOf(q *Question) (*format, error) {
	all := formats()
	if q.Format == "" {
		accept := withoutParameters(q.Lines)
		chosen := all[0].mediaType
		if best, _, err := contenttype.GetAcceptableMediaTypeFromHeader(accept, typesOf(all)); err == nil && accept != "" {
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
	return nil, &resolver.Negative{Kind: resolver.ErrService, Reason: "there is no such format; there are " + strings.Join(names, ", ")}
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

// MayWantDocument reports whether a value of Accept may ask a name for something else than a redirect. Most say at once that they do not:
// those of browsers, and of programs that accept everything.
func MayWantDocument(accept string) bool {
	if len(accept) < len("text/turtle") {
		return false
	}
	for i := range len(accept) {
		if 'A' <= accept[i] && accept[i] <= 'Z' { // few clients write types so
			accept = strings.ToLower(accept)
			break
		}
	}
	for _, part := range [...]string{"+json", "/linkset", "/turtle", "/x-", "/vnd."} {
		if strings.Contains(accept, part) {
			return true
		}
	}
	return false
}

// withoutParameters returns Accept in lower case, with no parameters but weights: profiles (RFC 6906) and character sets do not matter here.
func withoutParameters(lines httpmessage.Lines) string {
	var b strings.Builder
	for i, r := range parseAccept(lines) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s;q=%.3f", r.Type, r.Quality)
	}
	return b.String()
}

// preferred returns the format that a client would rather have of a name than a redirect, nil for most.
func preferred(lines httpmessage.Lines) *format {
	accept := lines.List("Accept")
	if !MayWantDocument(accept) {
		return nil
	}
	var answers []format
	for _, f := range formats() {
		if f.isAnswer {
			answers = append(answers, f)
		}
	}
	types := append([]contenttype.MediaType{contenttype.NewMediaType(pages.Type)}, typesOf(answers)...)
	chosen, _, err := contenttype.GetAcceptableMediaTypeFromHeader(withoutParameters(lines), types)
	if err != nil {
		return nil
	}
	return find(answers, func(f *format) bool { return f.mediaType == chosen.MIME() })
}
