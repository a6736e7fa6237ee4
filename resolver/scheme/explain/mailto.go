package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// mailto describes a mailto URI: RFC 6068.
func (d *description) mailto(u uri.URI) error {
	parts, err := u.Mailto()
	if err != nil {
		return err
	}
	d.note("This is the address of a mailbox, with a draft of a message where it has more parts. Nothing was " +
		"retrieved, and no message was sent.")
	d.note("A mail program makes a message of it. Read it there, with all its recipients, before you send it.")
	for _, address := range parts.To {
		d.property("To", address)
	}
	for _, field := range parts.Fields {
		d.field(field)
	}
	if len(parts.To) == 0 {
		d.note("It has no recipient before the question mark.")
	}
	d.open.Text = "Write in a mail program"
	return nil
}

// field describes a header field; the field "body" is the message.
func (d *description) field(f uri.Field) {
	if f.Name == "body" && d.l.Text == "" { // line ends are encoded in it by rule: RFC 6068 section 5
		d.l.Text = scheme.DecodeLines(f.Value)
		d.warnOfCharacters("message", strings.NewReplacer("\r", "", "\n", "", "\t", "").Replace(f.Value))
		return
	}
	d.property(titled(f.Name), f.Value)
	d.warnOfCharacters("name of a field", f.Name)
	switch {
	case f.Name == "bcc":
		d.warn("It adds blind copies (bcc).")
	case f.Name == "cc", f.Name == "to":
		d.warn(fmt.Sprintf("It adds recipients (%s).", f.Name))
	case f.Name == "attach", f.Name == "attachment":
		d.warnHarmful("It attaches a file from your computer. Do not send files that you did not choose.")
	case !slices.Contains(safeFields(), f.Name):
		d.warn(fmt.Sprintf("The field %q is not safe in an address (RFC 6068 section 4). Mail programs "+
			"should ignore it.", scheme.DecodeText(titled(f.Name))))
	}
}

// safeFields returns the fields that RFC 6068 section 4 calls safe, and In-Reply-To, which only names a
// message.
func safeFields() []string { return []string{"subject", "keywords", "body", "in-reply-to"} }

// titled returns the name of a field in the usual capitalization.
func titled(name string) string {
	words := strings.Split(name, "-")
	for i, word := range words {
		if word != "" {
			words[i] = string(uri.Upper(word[0])) + word[1:]
		}
	}
	return strings.Join(words, "-")
}
