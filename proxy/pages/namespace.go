package pages

import (
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
	Heading text
	NID     string
	Facts   []fact
}

// UnknownCount is how many names there are of a namespace where that is not known.
const UnknownCount = -1

// Namespace returns the page of a namespace, of which the registry has so many names, and false where none has this identifier, which may be
// in any case.
func (w Writer) Namespace(nid string, names int64) (Page, bool) {
	nid = strings.ToLower(nid)
	all, t := w.design.site.All, w.text()
	i := slices.IndexFunc(all, func(n Namespace) bool { return n.NID == nid })
	if i < 0 {
		return Page{}, false
	}
	ns := &all[i]
	page := spacePage{Frame: w.frame(t.SpaceTitle.with("urn:"+nid), here, ""), Heading: t.SpaceTitle, NID: nid}
	page.Crumbs = []Entry{w.entry(string(t.Namespaces), pathNamespaces, ""), {Word: "urn:" + nid}}
	page.Languages = w.inLanguages(func(parameter string) string { return pathNamespaces + "/" + nid + "?" + parameter })
	page.Facts = w.facts(ns)
	if t := w.text(); names != UnknownCount {
		to := link{w.href(namesTarget(resolver.NameSearch{Prefix: "urn:" + nid + ":"}, strings.TrimPrefix(w.query(), "?"))), w.number(int(names), t.OneName, t.ManyNames)}
		page.Facts = append(page.Facts, fact{Name: string(t.SpaceNames), Values: []link{to}})
	}
	return w.execute("namespace.html", &w.design.page, page), true
}

// facts returns what is known of a namespace, without what is not.
func (w Writer) facts(ns *Namespace) []fact {
	t := w.text()
	source := fact{Name: string(t.SpaceSource), Says: []string{ns.Source}}
	if ns.Source == "" {
		source.Says = []string{string(t.SpaceConfigured)}
	}
	facts := []fact{source}
	if ns.Example != "" {
		facts = append(facts, fact{Name: string(t.Examples), Values: []link{w.example(ns.Example)}})
	}
	if ns.Pattern != "" {
		facts = append(facts, fact{Name: string(t.SpacePattern), Values: []link{{Text: ns.Pattern}}})
	}
	facts = append(facts, w.checks(ns)...)
	facts = append(facts, fact{Name: string(t.SpaceSame), Says: w.equivalence(ns)})
	if leads := w.leads(ns); leads != nil {
		facts = append(facts, fact{Name: string(t.SpaceLeads), Says: leads})
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
	t := w.text()
	var facts []fact
	if slices.Contains([]string{"eidr", "ietf", "isan", "isbn", "isni", "issn", "lei", "lex", "nbn", "oid", "uuid"}, ns.Check) && !ns.Lenient {
		facts = append(facts, fact{Name: string(t.SpaceForm), Says: []string{string(t.CheckForm)}})
	}
	if by := checkDigits(ns.Check); by != "" {
		says := t.CheckStrict
		if ns.Lenient || ns.LenientDigits {
			says = t.CheckLenient
		}
		facts = append(facts, fact{Name: string(t.SpaceChecks), Says: []string{by, string(says)}})
	}
	return facts
}

// equivalence returns which names are one.
func (w Writer) equivalence(ns *Namespace) []string {
	t := w.text()
	says := []string{string(map[string]text{
		"": t.FoldNone, "none": t.FoldNone, "lower": t.FoldAll, "upper": t.FoldAll, "first": t.FoldFirst, "prefix": t.FoldPrefix,
	}[ns.Fold])}
	if ns.Strip != "" {
		says = append(says, t.StripSays.with(strings.Join(strings.Split(ns.Strip, ""), " ")))
	}
	switch ns.Check {
	case "isbn":
		says = append(says, string(t.SameISBN))
	case "ietf", "smpte", "gsma": // see urnns: what the rows of data cannot express
		says = append(says, string(t.SameExcept))
	}
	return says
}

// leads returns the kinds of systems that are asked where names lead, in their order; nil where there is none. No server of the
// configuration is named.
func (w Writer) leads(ns *Namespace) []string {
	t := w.text()
	kinds := map[string]text{
		"registry": t.LeadsRegistry, "ddds": t.LeadsDNS, "slp": t.LeadsSLP, "thttp": t.LeadsOther,
	}
	var says []string
	for _, system := range ns.Systems {
		switch {
		case system == "namespace" && ns.HasRule && len(ns.Hosts) > 0:
			says = append(says, t.LeadsAway.with(strings.Join(ns.Hosts, ", ")))
		case system == "namespace" && ns.HasRule:
			says = append(says, string(t.LeadsRule))
		case kinds[system] != "":
			says = append(says, string(kinds[system]))
		}
	}
	return says
}
