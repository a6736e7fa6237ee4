package config

import (
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/urnd/urnd/uri"
)

// Namespace is a URN namespace of this site, or a change to one that is built
// in: fields that are not set keep the built-in value.
type Namespace struct {
	NID     string   `mapstructure:"nid"`
	Fold    string   `mapstructure:"fold"`    // "none", "lower", "upper", "prefix" or "first"
	Strip   string   `mapstructure:"strip"`   // octets that are ignored in comparison
	Check   string   `mapstructure:"check"`   // "strict", "digits" or "warn": names that fail the check of the namespace are accepted
	Pattern string   `mapstructure:"pattern"` // what a canonical NSS must match
	Order   []string `mapstructure:"order"`   // as resolve.order
	THTTP   []string `mapstructure:"thttp"`   // servers that are queried by THTTP, such as "https://resolver.example.org"
	Schemes []string `mapstructure:"schemes"` // of locations that these servers may return, in addition to http and https; empty: all
	Targets []Target `mapstructure:"targets"`
}

func namespaceSettings() []Setting {
	return []Setting{
		{
			Path: "namespaces", Default: []Namespace{},
			Form: tableForm, Invalidates: Answers | Snapshot, Elements: namespaceElements(),
			Doc: "Namespaces of your own, and changes to those that are built in. A list:",
			Sample: `namespaces:
  - nid: example
    # which part is case-insensitive: none, lower or upper (the whole name),
    # prefix or first (the part before the first hyphen or colon)
    fold: lower
    # what happens to names that fail the check of a built-in namespace, such
    # as a wrong check digit: strict refuses them, warn accepts them and says
    # so in the trace
    check: strict
    # octets that are ignored
    strip: "-"
    # what a canonical name must match; its named groups are variables
    pattern: '^(?P<kind>[a-z]+):(?P<id>.+)$'
    # as resolve.order; where it is not set, thttp goes first if servers are given,
    # then namespace if targets are, then the systems of resolve.order
    order: [thttp, namespace]
    # servers that resolve the names by THTTP, asked in order
    thttp: [https://resolver.example.org]
    # the schemes of locations that such servers may return, in addition to http
    # and https; if it is not set, those of RFC 1738 that lead somewhere
    schemes: [ftp]
    # the locations of names: URI templates (RFC 6570) with the variables urn, nid,
    # nss, the groups, and c, the directive of that name. {+id} inserts a part of the
    # name as it is, {id} encodes it once more, for the value of a parameter. A target
    # with a pattern is for the names that match it. If there are several, clients are
    # redirected to the one whose type and language they accept; both are optional.
    # Names that match a target which is gone are answered 410.
    targets:
      - pattern: '^lost:'
        gone: true
      - pattern: '^book:'
        template: https://books.example/{+id}.pdf
        type: application/pdf
        language: en
        title: The book
      # rel is a relation type (RFC 8288). Names do not lead to a target with one but
      # item, such as describedby or license; their links name it. context says for whom
      # a target is, such as a country
      - pattern: '^book:'
        template: https://books.example/{+id}.xml
        rel: describedby
        type: application/xml
      - template: https://example.org/{+urn}`,
		},
	}
}

func namespaceElements() []Setting {
	return []Setting{
		{Path: "namespaces.*.nid", Form: "NID", Doc: "which namespace; it must be set"},
		{
			Path: "namespaces.*.fold", OneOf: folds(),
			Doc: "which part of names is case-insensitive: the whole name, or the part before the first hyphen or " +
				"colon (prefix) or the first colon (first)",
		},
		{Path: "namespaces.*.strip", Form: "text", Doc: "octets of names that are ignored"},
		{
			Path: "namespaces.*.check", OneOf: checks(),
			Doc: "what happens to names that fail the check of a built-in namespace: they are refused (strict), or accepted with a warning, " +
				"where only the check digit is wrong (digits, the default of nbn) or in any case (warn)",
		},
		{
			Path: "namespaces.*.pattern", Form: "regular expression (RE2)",
			Doc: "what a canonical name must match; its named groups are variables of templates",
		},
		{
			Path: "namespaces.*.order", OneOf: systems(),
			Doc: "as resolve.order; where it is not set, thttp goes first if servers are given, then namespace if targets are",
		},
		{
			Path: "namespaces.*.thttp", Form: "http:// or https:// and a host",
			Doc: "servers that resolve the names by THTTP, asked in order",
		},
		{
			Path: "namespaces.*.schemes", OneOf: schemes(),
			Doc: "schemes of locations that such servers may return, in addition to http and https; empty: all that " +
				"lead somewhere",
		},
		{
			Path: "namespaces.*.targets", Form: tableForm, Elements: targetElements(),
			Doc: "the locations of names, the best first",
		},
	}
}

// Target is a location of names of a Namespace.
type Target struct {
	Pattern  string `mapstructure:"pattern"`  // which names; empty: all
	Template string `mapstructure:"template"` // a URI template, RFC 6570
	Type     string `mapstructure:"type"`     // the media type of the resource; empty: not known
	Language string `mapstructure:"language"` // its language; empty: not known
	Rel      string `mapstructure:"rel"`      // what it is to the name: a relation type, RFC 8288; empty: the resource
	Title    string `mapstructure:"title"`    // for people
	Context  string `mapstructure:"context"`  // for whom it is, such as a country; empty: for all
	Gone     bool   `mapstructure:"gone"`     // the names have no location any more
}

func targetElements() []Setting {
	return []Setting{
		{Path: "namespaces.*.targets.*.pattern", Form: "regular expression (RE2)", Doc: "which canonical names; empty: all"},
		{
			Path: "namespaces.*.targets.*.template", Form: "URI template (RFC 6570)",
			Doc: "their location; it must be set, except with gone",
		},
		{Path: "namespaces.*.targets.*.type", Form: "media type", Doc: "the media type of the resource"},
		{Path: "namespaces.*.targets.*.language", Form: "language tag", Doc: "its language"},
		{
			Path: "namespaces.*.targets.*.rel", Form: "relation type (RFC 8288)",
			Doc: "what it is to the name, such as describedby or license: names do not lead there, and only their links name it; empty: " +
				"the resource itself, as item",
		},
		{Path: "namespaces.*.targets.*.title", Form: "text", Doc: "its title, for people"},
		{Path: "namespaces.*.targets.*.context", Form: "text", Doc: "for whom it is, such as a country"},
		{Path: "namespaces.*.targets.*.gone", Doc: "the names have no location any more, and are answered 410"},
	}
}

func folds() []string { return []string{"none", "lower", "upper", "prefix", "first"} }

func checks() []string { return []string{"strict", "digits", "warn"} }

func checkNamespaces(f *Faults, namespaces []Namespace) {
	seen := make(map[string]bool)
	for i, ns := range namespaces {
		path := index("namespaces", i)
		nid := strings.ToLower(ns.NID)
		switch err := uri.CheckNID(ns.NID); {
		case ns.NID == "":
			f.add(path+".nid", "is missing")
		case err != nil && strings.HasPrefix(nid, "urn:"):
			f.add(path+".nid", "%q is not a NID: write %s", ns.NID, strings.Trim(ns.NID[len("urn:"):], ":"))
		case err != nil:
			f.add(path+".nid", "%q: %v", ns.NID, err)
		case seen[nid]:
			f.add(path+".nid", "%q is configured twice", ns.NID)
		}
		seen[nid] = true
		if ns.Fold != "" {
			Setting{Path: path + ".fold", OneOf: folds()}.validate(f, ns.Fold)
		}
		if ns.Check != "" {
			Setting{Path: path + ".check", OneOf: checks()}.validate(f, ns.Check)
		}
		checkPattern(f, path+".pattern", ns.Pattern)
		checkOrder(f, path+".order", ns.Order)
		if len(ns.THTTP) > 0 && len(ns.Order) > 0 && !slices.Contains(ns.Order, "thttp") {
			f.add(path+".order", "does not name thttp, so the servers of %s.thttp would never be queried", path)
		}
		for j, server := range ns.THTTP {
			checkServer(f, index(path+".thttp", j), server)
		}
		Setting{Path: path + ".schemes", OneOf: schemes()}.validate(f, ns.Schemes)
		for j, target := range ns.Targets {
			at := index(path+".targets", j)
			checkPattern(f, at+".pattern", target.Pattern)
			checkTarget(f, at, target, ns.Pattern)
		}
	}
}

// checkTarget checks the template of a target, and what is said of it.
func checkTarget(f *Faults, path string, target Target, pattern string) {
	switch {
	case !target.Gone:
		checkTemplate(f, path+".template", target.Template, slices.Concat(ofNames(), groupsOf(pattern), groupsOf(target.Pattern)))
	case target.Template != "":
		f.add(path+".template", "is set together with gone: names that are gone have no location")
	}
	if _, _, err := mime.ParseMediaType(target.Type); target.Type != "" && (err != nil || !strings.Contains(target.Type, "/")) {
		f.add(path+".type", "%q is not a media type such as application/pdf", target.Type)
	}
	if _, err := language.Parse(target.Language); target.Language != "" && err != nil {
		f.add(path+".language", "%q is not a language tag such as en or pt-BR", target.Language)
	}
	if err := uri.CheckRelation(target.Rel); err != nil {
		f.add(path+".rel", "%q: %v", target.Rel, err)
	}
	checkLine(f, path+".title", target.Title)
	checkLine(f, path+".context", target.Context)
}

// maxLine bounds a text of one line, in octets.
const maxLine = 4 << 10

// checkLine checks a text that answers show in one line.
func checkLine(f *Faults, path, text string) {
	if len(text) > maxLine || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r\n") {
		f.add(path, "must be one line of UTF-8 text with at most %d octets", maxLine)
	}
}
