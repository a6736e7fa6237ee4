package represent

import "strings"

// Citation renders a work as a line of text: "Creators (year): title. Publisher. URL", as DataCite
// recommends. Unknown parts are omitted.
func Citation(w Work) []byte {
	w = w.tidied()
	m := w.Metadata
	var names []string
	for _, a := range m.Creators {
		names = append(names, a.Name)
	}
	var b strings.Builder
	b.WriteString(strings.Join(names, "; "))
	if y := year(m.Issued); y != "" {
		separate(&b, " ")
		b.WriteString("(" + y + ")")
	}
	separate(&b, ": ")
	sentence(&b, w.title())
	sentence(&b, m.Publisher)
	if note := w.note(); note != "" {
		sentence(&b, strings.ToUpper(note[:1])+note[1:])
	}
	if w.title() != w.subject() { // otherwise the title is the subject already
		separate(&b, " ")
		b.WriteString(w.subject())
	}
	return []byte(strings.TrimSpace(b.String()) + "\n")
}

// separate writes a separator, except at the beginning.
func separate(b *strings.Builder, separator string) {
	if b.Len() > 0 && !strings.HasSuffix(b.String(), " ") {
		b.WriteString(separator)
	}
}

// sentence writes a text that ends with a full stop, or with its own mark.
func sentence(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	separate(b, " ")
	b.WriteString(text)
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "!") {
		b.WriteString(".")
	}
}
