package pages

import (
	"net/url"
	"strings"
)

// Namespace is what pages say of a namespace of URNs. The zero value of every field but NID says nothing.
type Namespace struct {
	NID     string // in lower case
	Source  string // the documents with its rules; "" for the configuration
	Example string // a URN
	Pattern string // of what follows the NID, in the syntax of RE2
	Strip   string // octets that do not count
	Fold    string // in which part case does not count, as configurations write it
	Check   string // the rules that no other field expresses, as the data of namespaces names them
	// Lenient is whether what Check refuses is accepted with a warning, and LenientDigits whether wrong check digits are.
	Lenient, LenientDigits bool
	// HasRule is whether names lead somewhere by a rule, and Hosts the hosts of others that the rule leads to.
	HasRule bool
	Hosts   []string
	// Systems are asked where names lead, first to last, as configurations write them, and "registry".
	Systems []string
}

// spacesPerPage is how many namespaces a page lists.
const spacesPerPage = 100

// pathNamespaces is that of package route.
const pathNamespaces = "/namespaces"

// space is a namespace in a list.
type space struct {
	Link   link
	Source string
}

// spacesPage is the content of the list of namespaces.
type spacesPage struct {
	Frame
	Form  form
	Count string
	List  []space
	More  link
}

// Namespaces returns the list of those namespaces whose identifier or document has a text in it, "" for all, from the one behind
// another: "" for the first.
func (w Writer) Namespaces(search, after string) Page {
	page := spacesPage{Frame: w.frame(w.Text("home.namespaces"), here, pathNamespaces), Form: w.form(pathNamespaces, search)}
	found, last := 0, ""
	for i := range w.design.site.All {
		ns := &w.design.site.All[i]
		if !ns.has(search) {
			continue
		}
		found++
		switch {
		case ns.NID <= after:
		case len(page.List) < spacesPerPage:
			page.List, last = append(page.List, w.space(ns)), ns.NID
		case page.More.Href == "":
			page.More = link{w.href(spacesTarget(search, last, strings.TrimPrefix(w.query(), "?"))), w.Text("listing.more")}
		}
	}
	page.Count = w.Text("namespace.count", "Count", found)
	page.Languages = w.inLanguages(func(parameter string) string { return spacesTarget(search, after, parameter) })
	return w.execute("namespaces.html", &w.design.page, page)
}

// has reports whether the identifier or the document of a namespace has a text in it, in any case.
func (n *Namespace) has(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	text = strings.TrimSuffix(strings.TrimPrefix(text, "urn:"), ":")
	return strings.Contains(n.NID, text) || strings.Contains(strings.ToLower(n.Source), text)
}

// space returns a namespace as lists have it.
func (w Writer) space(ns *Namespace) space {
	const most = 60 // octets of a source
	source := ns.Source
	if len(source) > most {
		source = strings.ToValidUTF8(source[:most], "") + "…"
	}
	return space{w.toNamespace(ns.NID), source}
}

// toNamespace returns a link to the page of a namespace.
func (w Writer) toNamespace(nid string) link {
	return link{w.href(pathNamespaces + "/" + nid + w.query()), "urn:" + nid}
}

// spacesTarget returns the target of a part of the list, with another parameter, "" for none.
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
