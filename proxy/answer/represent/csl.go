package represent

import "strings"

// CSL renders a work as an item of CSL-JSON 1.0.2, in the form in which DOI registration agencies return it:
// an object, not a list of one.
func CSL(w Work) []byte {
	w = w.tidied()
	m := w.Metadata
	k, _ := kindOf(m)
	item := ordered{{"id", w.subject()}, {"type", k.csl}}
	add := func(name, text string) {
		if text != "" {
			item = append(item, member{name, text})
		}
	}
	add("title", w.title())
	if len(m.Creators) > 0 {
		var authors []ordered
		for _, a := range m.Creators {
			authors = append(authors, a.csl())
		}
		item = append(item, member{"author", authors})
	}
	add("publisher", m.Publisher)
	if m.Issued != "" {
		item = append(item, member{"issued", ordered{{"date-parts", [][]int{dateParts(m.Issued)}}}})
	}
	add("abstract", m.Description)
	add("keyword", strings.Join(m.Keywords, ", "))
	add("language", m.Language)
	if doi, ok := strings.CutPrefix(w.Name, "urn:doi:"); ok {
		add("DOI", doi)
	}
	if w.Status == Withdrawn || w.Status == Reserved {
		add("status", w.Status)
	}
	add("note", w.note())
	add("URL", w.URL)
	return marshal(item)
}

// csl returns a name. It is split only if the family name comes first: otherwise its parts are ambiguous.
func (a Agent) csl() ordered {
	if family, given, ok := a.parts(); ok {
		return ordered{{"family", family}, {"given", given}}
	}
	return ordered{{"literal", a.Name}}
}

// parts returns the family and given name of a person whose name is written with the family name first, as in
// "Gibbon, Edward".
func (a Agent) parts() (family, given string, ok bool) {
	family, given, ok = strings.Cut(a.Name, ",")
	family, given = strings.TrimSpace(family), strings.TrimSpace(given)
	return family, given, ok && a.Type != organization && family != "" && given != "" && !strings.Contains(given, ",")
}
