package urnns

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Identifier is a row of the table of identifiers that people use without "urn:", such as a
// bare ISBN or "doi:".
type Identifier struct {
	// Pattern matches the whole identifier (RE2 syntax); its named groups are variables of
	// Template.
	Pattern string
	// Template is the URI of the identifier: a URI template (RFC 6570).
	Template string
}

// Identifiers is a compiled table. It is immutable, and safe for concurrent use.
type Identifiers struct {
	rows []identifierRow
}

type identifierRow struct {
	match    matcher
	template uri.Template
}

// remark is what catalogues write behind an ISBN or ISSN, such as "(pbk.)", "(hardcover : alk. paper)" or "(online)".
const remark = `(?:\s*\([^()]{1,80}\))?$`

// BuiltinIdentifiers returns the rows that urnd has without configuration. Names that are
// handles or ARKs have no URN namespace: they lead to their global resolvers.
func BuiltinIdentifiers() []Identifier {
	return []Identifier{
		{`(?i)^(?:(?:[ep]-?)?isbn(?:[- ]?1[03])?[:\s-]*)?(?P<id>(?:97[89][- ]?)?[0-9](?:[- ]?[0-9]){8}[- ]?[0-9X])` + remark, "urn:isbn:{+id}"},
		{`(?i)^(?:(?:[ep]-?)?issn(?:-?l)?[:\s-]*)?(?P<id>[0-9]{4}-?[0-9]{3}[0-9X])` + remark, "urn:issn:{+id}"},
		{`(?i)^(?:doi[:\s]\s*)?(?P<id>10\.[0-9]{4,9}/\S+)$`, "urn:doi:{+id}"},
		{`(?i)^hdl[:\s]\s*(?P<id>[0-9a-z.]+/\S+)$`, "https://hdl.handle.net/{+id}"},
		{`(?i)^ark[:\s]\s*/?(?P<id>[0-9b-z]{5,}/\S+)$`, "https://n2t.net/ark:/{+id}"},
	}
}

// NewIdentifiers compiles rows, of which the first that matches decides.
func NewIdentifiers(rows ...Identifier) (*Identifiers, error) {
	table := &Identifiers{}
	for i, row := range rows {
		match, err := newMatcher(row.Pattern)
		if err != nil {
			return nil, fmt.Errorf("identifier %d: %w", i, err)
		}
		template, err := uri.ParseTemplate(row.Template)
		if err != nil {
			return nil, fmt.Errorf("identifier %d: template: %w", i, err)
		}
		table.rows = append(table.rows, identifierRow{match, template})
	}
	return table, nil
}

// maxIdentifier bounds the length of an identifier, in octets.
const maxIdentifier = 1024

// URI returns the URI of an identifier, and whether the table has a row for it. A nil table has none. What has no syntax of URIs is data:
// delimiters and percent signs are encoded, and the blanks between groups of digits are hyphens.
func (t *Identifiers) URI(text string) (uri.URI, bool) { return t.expand(text, literal) }

// Of returns the URI of an identifier that is a URI itself, such as "ark:/12345/x1%2Fp3", and whether the table has a row for it. What is
// encoded stays as it is (RFC 3986 section 2.4).
func (t *Identifiers) Of(u uri.URI) (uri.URI, bool) { return t.expand(u.String(), encoded) }

var (
	literal = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23", " ", "-")
	encoded = strings.NewReplacer("?", "%3F", "#", "%23")
)

func (t *Identifiers) expand(text string, part *strings.Replacer) (uri.URI, bool) {
	if t == nil || text == "" || len(text) > maxIdentifier {
		return uri.URI{}, false
	}
	for _, row := range t.rows {
		values, ok := row.match.capture(text, nil)
		if !ok {
			continue
		}
		for i := range values {
			values[i].Text = part.Replace(values[i].Text)
		}
		expanded, err := row.template.Expand(values)
		if err != nil {
			return uri.URI{}, false
		}
		u, err := uri.FromIRI(expanded)
		return u, err == nil
	}
	return uri.URI{}, false
}
