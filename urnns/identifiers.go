package urnns

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Identifier is a row of the table of identifiers: the spellings in common use for identifiers of one kind, and
// the URI that they stand for.
type Identifier struct {
	// Pattern matches an identifier, with or without its label (RE2 syntax); its named groups are variables of
	// the templates.
	Pattern string
	// Template is the URI of the identifier: a URI template (RFC 6570). If it is a web URL, it is that of a
	// resolver, to which the identifier resolves without being a name.
	Template string
	// Resolver is the URL of the identifier at its public resolver: a URI template. It is "" for URNs, which
	// have the rules of their namespace.
	Resolver string
	// URLs are prefixes of URLs of public resolvers, without scheme, such as "doi.org/". Label followed by the
	// rest of the URL is the identifier.
	URLs  []string
	Label string
}

// Identifiers is a compiled table. It is immutable, and safe for concurrent use. A nil table is empty.
type Identifiers struct {
	rows []identifierRow
}

type identifierRow struct {
	match    matcher
	template uri.Template
	literal  string        // prefix of the URIs
	resolver *uri.Template // nil for none
	urls     []string
	label    string
}

// remark matches a note of catalogues after an ISBN or ISSN, such as "(pbk.)", "(hardcover : alk. paper)" or
// "(online)".
const remark = `(?:\s*\([^()]{1,80}\))?$`

// BuiltinIdentifiers returns the rows that need no configuration. A DOI is also a handle. Handles and ARKs have
// no URN namespace: they resolve at their global resolvers. A handle needs its label unless its prefix has
// dots, as every prefix assigned since 2012 has.
func BuiltinIdentifiers() []Identifier {
	const handles, arks = "https://hdl.handle.net/{+id}", "https://n2t.net/ark:/{+id}"
	return []Identifier{
		{
			Pattern:  `(?i)^(?:(?:[ep]-?)?isbn(?:[- ]?1[03])?[:\s-]*)?(?P<id>(?:97[89][- ]?)?[0-9](?:[- ]?[0-9]){8}[- ]?[0-9X])` + remark,
			Template: "urn:isbn:{+id}", URLs: []string{"openlibrary.org/isbn/", "search.worldcat.org/isbn/"},
		},
		{
			Pattern:  `(?i)^(?:(?:[ep]-?)?issn(?:-?l)?[:\s-]*)?(?P<id>[0-9]{4}-?[0-9]{3}[0-9X])` + remark,
			Template: "urn:issn:{+id}",
			URLs:     []string{"portal.issn.org/resource/issn/", "portal.issn.org/resource/ISSN/"},
		},
		{
			Pattern:  `(?i)^(?:(?:doi|hdl)[:\s]\s*|info:(?:doi|hdl)/)?(?P<id>10\.[0-9]{4,9}(?:\.[0-9]+)*/\S+)$`,
			Template: "urn:doi:{+id}", URLs: []string{"doi.org/", "dx.doi.org/", "www.doi.org/"}, Label: "doi:",
		},
		{
			Pattern:  `(?i)^(?:hdl[:\s]\s*|info:hdl/)(?P<id>[0-9a-z.]+/\S+)$`,
			Template: "hdl:{+id}", Resolver: handles, URLs: []string{"hdl.handle.net/"}, Label: "hdl:",
		},
		{Pattern: `(?i)^(?P<id>[1-9][0-9]+(?:\.[0-9a-z]+)+/\S+)$`, Template: "hdl:{+id}", Resolver: handles},
		{ // hyphens in the NAAN do not count (draft-kunze-ark-42 section 3.2, step 6)
			Pattern:  `(?i)^ark[:\s]\s*/?(?P<id>(?:(?:-|%e2%80%9[0-5])*[0-9b-z]){5,}(?:-|%e2%80%9[0-5])*/\S+)$`,
			Template: "ark:/{+id}", Resolver: arks, URLs: []string{"n2t.net/", "arks.org/"},
		},
		{
			Pattern: `(?i)^(?P<id>nbn:[a-z]{2}[:-]\S+)$`, Template: "urn:{+id}",
			URLs: []string{
				"nbn-resolving.org/", "nbn-resolving.de/", "urn.fi/", "urn.kb.se/resolve?urn=",
				"resolver.obvsg.at/", "urn.nsk.hr/", "nbn.depositolegale.it/",
			},
		},
	}
}

// NewIdentifiers compiles rows. The first row that matches applies.
func NewIdentifiers(rows ...Identifier) (*Identifiers, error) {
	table := &Identifiers{}
	for i, row := range rows {
		compiled := identifierRow{urls: row.URLs, label: row.Label}
		compiled.literal, _, _ = strings.Cut(row.Template, "{")
		var err error
		if compiled.match, err = newMatcher(row.Pattern); err != nil {
			return nil, fmt.Errorf("identifier %d: %w", i, err)
		}
		if compiled.template, err = uri.ParseTemplate(row.Template); err != nil {
			return nil, fmt.Errorf("identifier %d: template: %w", i, err)
		}
		if row.Resolver != "" {
			resolver, err := uri.ParseTemplate(row.Resolver)
			if err != nil {
				return nil, fmt.Errorf("identifier %d: resolver: %w", i, err)
			}
			compiled.resolver = &resolver
		}
		table.rows = append(table.rows, compiled)
	}
	return table, nil
}

// maxIdentifier limits the length of an identifier, in bytes.
const maxIdentifier = 1024

// URI returns the URI of an identifier, and whether a row matches it. Delimiters of URIs in it are data, and
// are percent-encoded; spaces between groups of digits become hyphens. Percent-encodings are kept, since people
// paste them.
func (t *Identifiers) URI(text string) (uri.URI, bool) { return t.expand(text, literal, false) }

// FromURI returns the name of an identifier that is itself a URI, such as "doi:10.1000/182", "ark:/12345/x1%2Fp3" or
// the URL of a public resolver, and whether a row matches it. Percent-encodings are kept (RFC 3986 section
// 2.4), except for those of unreserved characters (section 2.3) and an encoded slash after a prefix. The query and the
// fragment of an ARK are not part of the identifier (draft-kunze-ark-42 section 3.2), and are kept as well.
func (t *Identifiers) FromURI(u uri.URI) (uri.URI, bool) {
	if t == nil || u.IsURN() {
		return uri.URI{}, false
	}
	if u.IsWeb() {
		if found, ok := t.ofURL(u); ok {
			return found, true
		}
	}
	name, query := cutARK(u.NormalizeSteps(uri.PercentCase | uri.DecodeUnreserved))
	found, ok := t.nameOf(name)
	if i := strings.IndexByte(name, '#'); !ok && i >= 0 { // it is data of a DOI or a handle only
		name, query = name[:i], name[i:]
		found, ok = t.nameOf(name)
	}
	if query == "" || !ok {
		return found, ok
	}
	if _, hasOwn := found.Query(); hasOwn {
		return uri.URI{}, false
	}
	found, err := uri.Parse(found.WithoutFragment().String() + query)
	return found, err == nil
}

// nameOf returns the name of an identifier in the text of a URI.
func (t *Identifiers) nameOf(text string) (uri.URI, bool) {
	found, ok := t.expand(text, encoded, true)
	if i := strings.Index(strings.ToUpper(text), "%2F"); !ok && i >= 0 {
		return t.expand(text[:i]+"/"+text[i+len("%2F"):], encoded, true)
	}
	return found, ok
}

// ofURL is FromURI for the URL of a public resolver. A fragment is kept: it belongs to the resource.
func (t *Identifiers) ofURL(u uri.URI) (uri.URI, bool) {
	_, text, _ := strings.Cut(u.Normalize().String(), "://")
	text, fragment, hasFragment := strings.Cut(text, "#")
	if hasFragment {
		fragment = "#" + fragment
	}
	for i := range t.rows {
		for _, url := range t.rows[i].urls {
			id, ok := strings.CutPrefix(text, url)
			if !ok || strings.Contains(id, "?") {
				continue
			}
			found, err := uri.Parse(id)
			if err != nil || !found.IsURN() {
				found, ok = t.nameOf(t.rows[i].label + id)
			}
			if ok {
				found, err = uri.Parse(found.String() + fragment)
				return found, err == nil
			}
		}
	}
	return uri.URI{}, false
}

// HasResolver reports whether the scheme of u is one of names with a public resolver that are not URNs.
func (t *Identifiers) HasResolver(u uri.URI) bool {
	if t == nil {
		return false
	}
	return slices.ContainsFunc(t.rows, func(row identifierRow) bool {
		scheme, _, _ := strings.Cut(row.literal, ":")
		return row.resolver != nil && uri.EqualFold(scheme, u.Scheme())
	})
}

// Location returns the URL of an identifier at its public resolver, and whether it has one.
func (t *Identifiers) Location(u uri.URI) (string, bool) {
	if !t.HasResolver(u) {
		return "", false
	}
	name, query := cutARK(u)
	for i := range t.rows {
		row := &t.rows[i]
		resolver := row.resolver
		if row.matchesURL() {
			resolver = &row.template
		}
		if resolver == nil {
			continue
		}
		if values, ok := row.match.capture(name, nil); ok {
			return resolver.Expand(values) + query, true
		}
	}
	return "", false
}

// matchesURL reports whether the template of a row is a web URL, and therefore no name.
func (r *identifierRow) matchesURL() bool {
	return strings.HasPrefix(r.literal, "https:") || strings.HasPrefix(r.literal, "http:")
}

// PrefixURI converts a prefix of identifiers to the prefix of their URIs: "DOI:10.5555/" to "urn:doi:10.5555/".
// ok is false if it does not start with a label.
func (t *Identifiers) PrefixURI(text string) (beginning string, ok bool) {
	if t == nil {
		return "", false
	}
	for i := range t.rows {
		row := &t.rows[i]
		if n := len(row.label); n > 0 && len(text) >= n && uri.EqualFold(text[:n], row.label) {
			return row.literal + text[n:], true
		}
	}
	return "", false
}

// literal encodes a part of a text for a URI. encoded encodes a part of a URI.
func literal(text string) string { return strings.ReplaceAll(encoded(text), " ", "-") }

func encoded(text string) string { return strings.NewReplacer("?", "%3F", "#", "%23").Replace(text) }

// expand returns the URI of a text by the first row that matches, with part applied to the values. names skips
// rows whose template is a web URL.
func (t *Identifiers) expand(text string, part func(string) string, names bool) (uri.URI, bool) {
	if t == nil || text == "" || len(text) > maxIdentifier {
		return uri.URI{}, false
	}
	for i := range t.rows {
		row := &t.rows[i]
		if names && row.matchesURL() {
			continue
		}
		values, ok := row.match.capture(text, nil)
		if !ok {
			continue
		}
		for i := range values {
			values[i].Text = part(values[i].Text)
		}
		return row.uri(values)
	}
	return uri.URI{}, false
}

// uri returns the URI of an identifier that a row matches.
func (r *identifierRow) uri(values []uri.TemplateValue) (uri.URI, bool) {
	u, err := uri.FromIRI(r.template.Expand(values))
	return u, err == nil
}

// cutARK splits an ARK into the URI without its query and fragment, and these with their delimiters. For other URIs
// query is "".
func cutARK(u uri.URI) (name, query string) {
	name = u.String()
	if !uri.EqualFold(u.Scheme(), "ark") {
		return name, ""
	}
	if i := strings.IndexAny(name, "?#"); i >= 0 {
		return name[:i], name[i:]
	}
	return name, ""
}
