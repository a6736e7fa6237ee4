package represent

import (
	"bytes"
	"strings"
)

// BibTeX renders a work as an entry @misc, which requires no field. Braces in texts become commands, since
// BibTeX also counts braces escaped by a backslash. URLs are not escaped: styles print them verbatim.
func BibTeX(w Work) []byte {
	w = w.tidied()
	m := w.Metadata
	var b bytes.Buffer
	b.WriteString("@misc{" + bibKey(w.subject()))
	field := func(name, text string) {
		if text != "" {
			b.WriteString(",\n  " + name + " = {" + text + "}")
		}
	}
	var authors []string
	for _, a := range m.Creators {
		authors = append(authors, a.bibtex())
	}
	field("author", strings.Join(authors, " and "))
	field("title", escapeTeX(w.title()))
	field("publisher", escapeTeX(m.Publisher))
	parts := dateParts(m.Issued)
	field("year", year(m.Issued))
	if len(parts) > 1 {
		field("date", m.Issued)
		b.WriteString(",\n  month = " + bibMonths[parts[1]-1])
	}
	field("abstract", escapeTeX(m.Description))
	field("keywords", escapeTeX(strings.Join(m.Keywords, ", ")))
	field("language", escapeTeX(m.Language))
	if doi, ok := strings.CutPrefix(w.Name, "urn:doi:"); ok {
		field("doi", doi)
	} else {
		scheme, _, _ := strings.Cut(w.Name, ":")
		field("eprint", w.Name)
		field("eprinttype", scheme)
	}
	field("note", escapeTeX(w.note()))
	field("url", w.URL)
	b.WriteString("\n}\n")
	return b.Bytes()
}

// bibMonths are the macros for months.
var bibMonths = [...]string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

// bibtex returns a name. A name that is not "Family, Given" is in braces, so that BibTeX does not split it.
func (a Agent) bibtex() string {
	name := escapeTeX(a.Name)
	joined := strings.Contains(" "+strings.ToLower(a.Name)+" ", " and ")
	if _, _, ok := a.parts(); ok && !joined {
		return name
	}
	return "{" + name + "}"
}

// bibKey returns the citation key of an identifier, "unknown" for "". Characters with a meaning in BibTeX or
// TeX are replaced by hyphens.
func bibKey(id string) string {
	if id == "" {
		return "unknown"
	}
	key := []byte(id)
	for i, c := range key {
		if !isAlphanumeric(c) && strings.IndexByte(":.-/", c) < 0 {
			key[i] = '-'
		}
	}
	return string(key)
}

// escapeTeX escapes characters with a meaning in TeX.
func escapeTeX(text string) string {
	return strings.NewReplacer(
		`\`, `\textbackslash{}`, `{`, `\textbraceleft{}`, `}`, `\textbraceright{}`, `%`, `\%`, `&`, `\&`, `#`, `\#`,
		`_`, `\_`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `$`, `\$`,
	).Replace(text)
}
