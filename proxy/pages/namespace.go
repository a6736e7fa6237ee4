package pages

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// fact is something about a namespace: sentences, or values.
type fact struct {
	Name   string
	Says   []string
	Values []link
}

// spacePage is the content of the page of a namespace.
type spacePage struct {
	Frame
	Name  link
	Facts []fact
}

// UnknownCount is how many names there are of a namespace where that is not known.
const UnknownCount = -1

// Namespace returns the page of a namespace, of which the registry has so many names, and false where none has this identifier, which may be
// in any case.
func (w Writer) Namespace(nid string, names int64) (Page, bool) {
	nid = strings.ToLower(nid)
	all := w.design.site.All
	i := slices.IndexFunc(all, func(n Namespace) bool { return n.NID == nid })
	if i < 0 {
		return Page{}, false
	}
	ns := &all[i]
	page := spacePage{Frame: w.frame(w.Text("namespace.title", "Name", "urn:"+nid), here, ""), Name: link{Text: "urn:" + nid}}
	page.Crumbs = []Entry{w.entry(w.Text("home.namespaces"), pathNamespaces, ""), {Word: "urn:" + nid}}
	page.Languages = w.inLanguages(func(parameter string) string { return pathNamespaces + "/" + nid + "?" + parameter })
	page.Facts = w.facts(ns)
	if names != UnknownCount {
		to := link{w.href(namesTarget(resolver.NameSearch{Prefix: "urn:" + nid + ":"}, strings.TrimPrefix(w.query(), "?"))), w.Text("names.count", "Count", int(names))}
		page.Facts = append(page.Facts, fact{Name: w.Text("names.space_names"), Values: []link{to}})
	}
	return w.execute("namespace.html", &w.design.page, page), true
}

// facts returns what is known of a namespace, without what is not.
func (w Writer) facts(ns *Namespace) []fact {
	source := fact{Name: w.Text("namespace.source"), Says: []string{ns.Source}}
	if ns.Source == "" {
		source.Says = []string{w.Text("namespace.configured")}
	}
	facts := []fact{source}
	if ns.Example != "" {
		facts = append(facts, fact{Name: w.Text("home.examples"), Values: []link{w.example(ns.Example)}})
	}
	if ns.Pattern != "" {
		facts = append(facts, fact{Name: w.Text("namespace.pattern"), Values: []link{{Text: ns.Pattern}}})
	}
	facts = append(facts, w.checks(ns)...)
	facts = append(facts, fact{Name: w.Text("namespace.same"), Says: w.equivalence(ns)})
	if leads := w.leads(ns); leads != nil {
		facts = append(facts, fact{Name: w.Text("namespace.leads"), Says: leads})
	}
	return facts
}

// checkDigits returns the standard by which a check verifies digits, "" for none.
func checkDigits(check string) string {
	return map[string]string{
		"eidr": "ISO/IEC 7064, MOD 37,36", "isan": "ISO/IEC 7064, MOD 37,36", "isbn": "ISO 2108", "isni": "ISO/IEC 7064, MOD 11-2",
		"issn": "ISO 3297", "lei": "ISO/IEC 7064, MOD 97-10", "nbn": "Deutsche Nationalbibliothek (urn:nbn:de)",
	}[check]
}

// checks returns how names are verified.
func (w Writer) checks(ns *Namespace) []fact {
	var facts []fact
	if slices.Contains([]string{"eidr", "ietf", "isan", "isbn", "isni", "issn", "lei", "lex", "nbn", "oid", "uuid"}, ns.Check) && !ns.Lenient {
		facts = append(facts, fact{Name: w.Text("namespace.form"), Says: []string{w.Text("namespace.check_form")}})
	}
	if by := checkDigits(ns.Check); by != "" {
		says := w.Text("namespace.check_strict")
		if ns.Lenient || ns.LenientDigits {
			says = w.Text("namespace.check_lenient")
		}
		facts = append(facts, fact{Name: w.Text("namespace.checks"), Says: []string{by, says}})
	}
	return facts
}

// equivalence returns which names are one.
func (w Writer) equivalence(ns *Namespace) []string {
	says := []string{w.Text("namespace.fold_" + cmp.Or(ns.Fold, "none"))}
	if ns.Strip != "" {
		says = append(says, w.Text("namespace.strip_says", "Characters", strings.Join(strings.Split(ns.Strip, ""), " ")))
	}
	switch ns.Check {
	case "isbn":
		says = append(says, w.Text("namespace.same_isbn"))
	case "ietf", "smpte", "gsma": // see urnns: what the rows of data cannot express
		says = append(says, w.Text("namespace.same_except"))
	}
	return says
}

// leads returns the kinds of systems that are asked where names lead, in their order; nil where there is none. No server of the
// configuration is named.
func (w Writer) leads(ns *Namespace) []string {
	var says []string
	for _, system := range ns.Systems {
		switch {
		case system == "namespace" && ns.HasRule && len(ns.Hosts) > 0:
			says = append(says, w.Text("namespace.leads_away", "Hosts", strings.Join(ns.Hosts, ", ")))
		case system == "namespace" && ns.HasRule:
			says = append(says, w.Text("namespace.leads_rule"))
		case w.Has("namespace.leads_" + system):
			says = append(says, w.Text("namespace.leads_"+system))
		}
	}
	return says
}
