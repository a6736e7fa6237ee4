package represent

import "strings"

// unknownValue is the code of the Dublin Core Kernel for a required value that is unknown.
const unknownValue = "(:unkn)"

// ERC renders a work as an electronic resource citation of draft-kunze-ark-42 section 5.2, in ANVL: who,
// what, when and where, and the commitment of the site if Support is set.
func ERC(w Work) []byte {
	w = w.tidied()
	m := w.Metadata
	var names []string
	for _, a := range m.Creators {
		names = append(names, a.Name)
	}
	who := strings.Join(names, "; ")
	if who == "" {
		who = m.Publisher
	}
	var r anvl
	r.begin("erc")
	r.element("who", who)
	r.element("what", m.Title)
	r.element("when", compact(m.Issued))
	r.uri("where", w.Name)
	r.ercNotes(w)
	if s := w.Support; s != nil {
		r.text.WriteByte('\n') // an empty line ends a record
		r.begin("erc-support")
		r.element("who", s.Who)
		r.element("what", s.What)
		r.element("when", compact(s.When))
		r.uri("where", s.Where)
	}
	return []byte(r.text.String())
}

// ercNotes adds the state of a name that does not resolve, and its successors.
func (r *anvl) ercNotes(w Work) {
	if w.Status != Withdrawn && w.Status != Reserved {
		return
	}
	note := w.Status
	if !w.Since.IsZero() {
		note += " since " + w.Since.UTC().Format("20060102")
	}
	if w.Reason != "" {
		note += ": " + w.Reason
	}
	r.element("note", note)
	for _, successor := range w.Successors {
		r.uri("note", "succeeded by "+successor)
	}
}

// compact returns a date without hyphens, as in ERC; other texts are returned unchanged.
func compact(text string) string {
	if d := date(text); d != "" {
		return strings.ReplaceAll(d, "-", "")
	}
	return text
}

// anvl is a text of labels and values, one per line.
type anvl struct{ text strings.Builder }

func (r *anvl) begin(label string) { r.text.WriteString(label + ":\n") }

// element writes a label that needs no escape, and its escaped value.
func (r *anvl) element(label, value string) { r.uri(label, escapeANVL(value)) }

// uri writes a label and a URI, which is not escaped: readers compare it with others, and do not decode it.
func (r *anvl) uri(label, value string) {
	if value == "" {
		value = unknownValue
	}
	r.text.WriteString(label + ": " + value + "\n")
}

// escapeANVL encodes percent signs that a reader would decode, such as that of %0A, a line end.
func escapeANVL(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if text[i] == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
			b.WriteString("%25")
		} else {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
