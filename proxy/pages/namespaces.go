package pages

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// Namespace is the metadata of a URN namespace. The zero value of every field but NID is unknown.
type Namespace struct {
	NID string // in lower case
	// Title and Description are in English. Translations of those of well-known namespaces are messages.
	Title, Description string
	Source             string // the documents with its rules; "" for a namespace of the configuration
	Example            string // a URN
	Pattern            string // of the NSS, in the syntax of RE2
	Strip              string // ignored characters
	Fold               string // the part that is case-insensitive, as in the configuration
	Check              string // name of the check that no other field expresses, as in the data of namespaces
	// Lenient is true if names that fail Check are accepted with a warning, and LenientDigits if wrong check
	// digits are.
	Lenient, LenientDigits bool
	// HasRule is true if names are resolved by a rule, and Hosts are the external hosts of its targets.
	HasRule bool
	Hosts   []string
	// Systems are the resolution systems in order, as named in the configuration, and "registry".
	Systems []string
}

// spacesPerPage is the page size of namespaces.
const spacesPerPage = 50

// pathNamespaces is the path of the list: see package route.
const pathNamespaces = "/namespaces"

// space is a namespace in a list: Title is a link to its page, if it has one.
type space struct {
	Link               link
	Title, Description template.HTML
}

// spacesPage is the data of the list of namespaces.
type spacesPage struct {
	Frame
	Form  form
	Count string
	List  []space
	More  link
}

// Namespaces returns a page of the namespaces that contain search, "" for all, after a NID; "" for the first
// page.
func (w Writer) Namespaces(search, after string) Page {
	page := spacesPage{
		Frame: w.frame(w.Text("home.namespaces"), here, pathNamespaces),
		Form:  w.form(pathNamespaces, search),
	}
	page.Head = w.design.spaces.element
	found, last := 0, ""
	for i := range w.design.site.All {
		ns := &w.design.site.All[i]
		if !w.finds(ns, search) {
			continue
		}
		found++
		switch {
		case ns.NID <= after:
		case len(page.List) < spacesPerPage:
			page.List, last = append(page.List, w.space(ns, true)), ns.NID
		case page.More.Href == "":
			page.More = link{
				w.href(spacesTarget(search, last, strings.TrimPrefix(w.query(), "?"))),
				w.Text("listing.more"),
			}
		}
	}
	page.Count = w.Text("namespace.count", "Count", found)
	page.Languages = w.inLanguages(func(parameter string) string { return spacesTarget(search, after, parameter) })
	return w.execute("namespaces.html", &w.design.spaces, page)
}

// finds reports whether one of the texts of a namespace contains a text, ignoring case.
func (w Writer) finds(n *Namespace, text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	text = strings.TrimSuffix(strings.TrimPrefix(text, "urn:"), ":")
	all := n.NID + "\n" + n.Source + "\n" + n.Title + "\n" + n.Description + "\n" + w.Text("space_title."+n.NID) +
		"\n" + w.Text("space."+n.NID)
	return strings.Contains(strings.ToLower(all), text)
}

// space returns a namespace for a list, with a link to its page if hasPage is true.
func (w Writer) space(ns *Namespace, hasPage bool) space {
	s := space{
		Link: link{Text: "urn:" + ns.NID}, Title: w.about(ns.Title, "space_title."+ns.NID),
		Description: w.about(ns.Description, "space."+ns.NID),
	}
	if hasPage {
		s.Link = w.toNamespace(ns.NID)
	}
	if s.Title != "" && hasPage {
		s.Title = template.HTML("<a " + string(s.Link.Href) + ">" + string(s.Title) + "</a>") //nolint:gosec // escaped
	}
	return s
}

// about returns the text about a namespace: a message in the language of the page, otherwise the English text
// with a lang attribute.
func (w Writer) about(english, id string) template.HTML {
	switch {
	case english == "":
		return ""
	case w.Has(id):
		return w.T(id)
	}
	text := template.HTMLEscapeString(english)
	if w.language != English {
		text = `<span lang="en">` + text + "</span>"
	}
	return template.HTML(text) //nolint:gosec // escaped
}

// toNamespace returns a link to the page of a namespace.
func (w Writer) toNamespace(nid string) link {
	return link{w.href(pathNamespaces + "/" + nid + w.query()), "urn:" + nid}
}

// spacesTarget returns the URL of a page of the list, with another parameter, "" for none.
func spacesTarget(search, after, parameter string) string {
	var all []string
	if search != "" {
		all = append(all, "q="+url.QueryEscape(search))
	}
	if after != "" {
		all = append(all, "after="+url.QueryEscape(after))
	}
	if parameter != "" {
		all = append(all, parameter)
	}
	if all == nil {
		return pathNamespaces
	}
	return pathNamespaces + "?" + strings.Join(all, "&")
}

// fact is a property of a namespace: sentences, and values, as code or as text.
type fact struct {
	Name    string
	Message []string
	Codes   []link
	Values  []link
}

// spacePage is the data of the page of a namespace.
type spacePage struct {
	Frame
	Name               string
	Code               template.HTML // Name, for use in a sentence
	Title, Description template.HTML
	Facts              []fact
}

// UnknownCount is an unknown number of names.
const UnknownCount = -1

// Namespace returns the page of a namespace, with the number of its names in the registry, and false for an
// unknown NID. The NID is case-insensitive.
func (w Writer) Namespace(nid string, names int64) (Page, bool) {
	nid = strings.ToLower(nid)
	ns := w.design.namespace(nid)
	if ns == nil {
		return Page{}, false
	}
	page := spacePage{
		Frame: w.frame(cmp.Or(w.titleOf(ns), w.Text("namespace.title", "Name", "urn:"+nid)), here, ""),
		Name:  "urn:" + nid, Facts: w.facts(ns),
	}
	page.Head, page.Code = w.design.spaces.element, link{Text: page.Name}.Code()
	page.Title, page.Description = w.about(ns.Title, "space_title."+nid), w.about(ns.Description, "space."+nid)
	page.Crumbs = []Entry{w.entry(w.Text("home.namespaces"), pathNamespaces, ""), {Label: page.Name}}
	page.Languages = w.inLanguages(func(parameter string) string {
		return pathNamespaces + "/" + nid + "?" + parameter
	})
	if names != UnknownCount {
		to := link{w.href(namesTarget(resolver.NameSearch{Prefix: "urn:" + nid + ":"},
			strings.TrimPrefix(w.query(), "?"))), w.Text("names.count", "Count", int(names))}
		page.Facts = append(page.Facts, fact{Name: w.Text("names.space_names"), Values: []link{to}})
	}
	return w.execute("namespace.html", &w.design.spaces, page), true
}

// facts returns the known properties of a namespace.
func (w Writer) facts(ns *Namespace) []fact {
	source := fact{Name: w.Text("namespace.source")}
	if ns.Source == "" {
		source.Message = []string{w.Text("namespace.configured")}
	}
	for document := range strings.SplitSeq(ns.Source, ", ") {
		if document != "" {
			source.Values = append(source.Values, toDocument(document))
		}
	}
	facts := []fact{source}
	if ns.Example != "" {
		facts = append(facts, fact{Name: w.Text("home.examples"), Codes: []link{w.example(ns.Example)}})
	}
	if ns.Pattern != "" {
		facts = append(facts, fact{Name: w.Text("namespace.pattern"), Codes: []link{{Text: ns.Pattern}}})
	}
	facts = append(facts, w.checks(ns)...)
	facts = append(facts, fact{Name: w.Text("namespace.same"), Message: w.equivalence(ns)})
	if targets := w.namespaceTargets(ns); targets != nil {
		facts = append(facts, fact{Name: w.Text("namespace.resolution"), Message: targets})
	}
	return facts
}

// checkDigits returns the standard of the check digits of a check, "" for none.
func checkDigits(check string) string {
	return map[string]string{
		"eidr": "ISO/IEC 7064, MOD 37,36", "isan": "ISO/IEC 7064, MOD 37,36", "isbn": "ISO 2108",
		"isni": "ISO/IEC 7064, MOD 11-2", "issn": "ISO 3297", "lei": "ISO/IEC 7064, MOD 97-10",
		"nbn": "Deutsche Nationalbibliothek (urn:nbn:de)",
	}[check]
}

// checks returns how names are validated.
func (w Writer) checks(ns *Namespace) []fact {
	var facts []fact
	if slices.Contains([]string{"eidr", "ietf", "isan", "isbn", "isni", "issn", "lei", "lex", "nbn", "oid", "uuid"},
		ns.Check) && !ns.Lenient {
		facts = append(facts, fact{Name: w.Text("namespace.form"), Message: []string{w.Text("namespace.check_form")}})
	}
	if by := checkDigits(ns.Check); by != "" {
		accuracy := w.Text("namespace.check_strict")
		if ns.Lenient || ns.LenientDigits {
			accuracy = w.Text("namespace.check_lenient")
		}
		facts = append(facts, fact{Name: w.Text("namespace.checks"), Message: []string{by, accuracy}})
	}
	return facts
}

// equivalence returns which names are equivalent.
func (w Writer) equivalence(ns *Namespace) []string {
	texts := []string{w.Text("namespace.fold_" + cmp.Or(ns.Fold, "none"))}
	if ns.Strip != "" {
		texts = append(texts, w.Text("namespace.strip_hint", "Characters",
			strings.Join(strings.Split(ns.Strip, ""), " ")))
	}
	switch ns.Check {
	case "isbn":
		texts = append(texts, w.Text("namespace.same_isbn"))
	case "ietf", "smpte", "gsma": // see urnns: exceptions that its data cannot express
		texts = append(texts, w.Text("namespace.same_except"))
	}
	return texts
}

// namespaceTargets returns texts for the kinds of systems that resolve names, in order; nil for none. Servers of the
// configuration are not named.
func (w Writer) namespaceTargets(ns *Namespace) []string {
	var texts []string
	for _, system := range ns.Systems {
		switch {
		case system == "namespace" && ns.HasRule && len(ns.Hosts) > 0:
			texts = append(texts, w.Text("namespace.from_redirect", "Hosts", strings.Join(ns.Hosts, ", ")))
		case system == "namespace" && ns.HasRule:
			texts = append(texts, w.Text("namespace.from_rule"))
		case w.Has("namespace.from_" + system):
			texts = append(texts, w.Text("namespace.from_"+system))
		}
	}
	return texts
}

// namespace returns the namespace of a NID in lower case, nil for none.
func (d *Design) namespace(nid string) *Namespace {
	all := d.site.All
	i, ok := slices.BinarySearchFunc(all, nid, func(n Namespace, nid string) int { return strings.Compare(n.NID, nid) })
	if !ok {
		return nil
	}
	return &all[i]
}

// titleOf returns the title of a namespace as plain text, "" for none.
func (w Writer) titleOf(ns *Namespace) string {
	if id := "space_title." + ns.NID; ns.Title != "" && w.Has(id) {
		return w.Text(id)
	}
	return ns.Title
}

// toDocument returns a link to a document with the rules of a namespace, without href unless it is an RFC or
// an IANA registration.
func toDocument(name string) link {
	if number, ok := strings.CutPrefix(name, "RFC "); ok {
		return link{hrefOf("https://www.rfc-editor.org/info/rfc" + number), name}
	}
	if registration, ok := strings.CutPrefix(name, "IANA "); ok {
		return link{hrefOf("https://www.iana.org/assignments/" + registration), name}
	}
	return link{Text: name}
}
