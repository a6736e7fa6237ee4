package represent

import (
	"bytes"
	"strings"
)

// RIS renders a work as a RIS record: one tag per line, followed by two spaces, a hyphen and a space; lines
// end with CR LF.
func RIS(w Work) []byte {
	w = w.tidied()
	m := w.Metadata
	k, _ := kindOf(m)
	var b bytes.Buffer
	tag := func(name string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				b.WriteString(name + "  - " + text + "\r\n")
			}
		}
	}
	tag("TY", k.ris)
	tag("TI", w.title())
	for _, a := range m.Creators {
		tag("AU", a.Name)
	}
	tag("PY", year(m.Issued))
	if m.Issued != "" { // YYYY/MM/DD/, of which parts may be empty
		parts := append(strings.Split(m.Issued, "-"), "", "")
		tag("DA", strings.Join(parts[:3], "/")+"/")
	}
	tag("PB", m.Publisher)
	tag("AB", m.Description)
	tag("KW", m.Keywords...)
	tag("LA", m.Language)
	tag("ID", w.Name)
	if doi, ok := strings.CutPrefix(w.Name, "urn:doi:"); ok {
		tag("DO", doi)
	}
	tag("N1", w.note())
	tag("UR", w.URL)
	b.WriteString("ER  - \r\n")
	return b.Bytes()
}
