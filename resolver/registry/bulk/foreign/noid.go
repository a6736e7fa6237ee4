package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
)

// NOID reads identifiers of NOID and EZID: bind commands, one per line, or ANVL records, as "noid fetch", the
// API of EZID and its batch downloads write them.
func NOID(in *Input, base string) (Entries, error) {
	n := &noids{tabular.NewLines(in.lines()), cmp.Or(base, "ark:/")}
	return n.next, nil
}

type noids struct {
	*tabular.Lines
	base string
}

// Values in a record of EZID are percent-encoded (EZID API, "Metadata requests & responses"); NOID writes
// them unencoded.
const (
	anvlPlain   = false
	anvlEncoded = true
)

func (n *noids) next() (*Item, error) {
	for {
		l, err := n.Read()
		if err != nil {
			return nil, err
		}
		text := strings.TrimSpace(l.Text)
		switch label, value, found := strings.Cut(text, ":"); {
		case l.Err != nil:
			return rejected(l.Line, l.Text, "%w", l.Err), nil //nolint:nilerr // the line is rejected with the error
		case text == "" || text[0] == '#':
			continue
		case strings.HasPrefix(text, ":: "): // a batch download of EZID
			return n.record(l, text[len(":: "):], anvlEncoded)
		case isCommand(text):
			return n.bind(l, text)
		case found && strings.EqualFold(strings.TrimSpace(label), "success"):
			// In a response of the API, a DOI is followed by its shadow ARK.
			id, _, _ := strings.Cut(value, " | ")
			return n.record(l, id, anvlEncoded)
		case found && strings.EqualFold(strings.TrimSpace(label), "id"):
			return n.record(l, value, anvlPlain)
		default:
			return rejected(l.Line, l.Text,
				"neither a bind command nor the start of a record, such as \"id: 13030/x1\""), nil
		}
	}
}

func isCommand(text string) bool {
	return strings.HasPrefix(text, "bind ") || strings.HasPrefix(text, "noid ") || strings.HasPrefix(text, "hold ") ||
		strings.HasPrefix(text, "queue ")
}

// binding is a command such as "bind set 13030/x1 goto https://example.org/".
type binding struct{ how, id, label, value string }

// newBinding parses a bind command that sets an element (Noid.pm). ok is false for other commands.
func newBinding(text string) (b binding, ok bool) {
	words := strings.SplitN(strings.TrimPrefix(strings.TrimSpace(text), "noid "), " ", 5)
	if len(words) < 5 || words[0] != "bind" || words[2] == "" || words[3] == "" ||
		!slices.Contains([]string{"new", "replace", "set", "append", "prepend", "add", "insert"}, words[1]) {
		return b, false
	}
	value := strings.TrimSpace(words[4])
	if len(value) > 1 && (value[0] == '\'' || value[0] == '"') && value[len(value)-1] == value[0] {
		value = value[1 : len(value)-1]
	}
	return binding{words[1], words[2], words[3], value}, true
}

// bind converts a command, and the following commands for the same identifier, to a name.
func (n *noids) bind(l tabular.Row, text string) (*Item, error) {
	b, ok := newBinding(text)
	if !ok {
		return rejected(l.Line, l.Text,
			"only bind with new, set, replace, append, prepend, add and insert is imported"), nil
	}
	i := newItem(l.Line, l.Text)
	n.named(i, b.id)
	bound := b.over(i, l.Line, nil)
	for range maxValues {
		var again binding
		l, ok, err := n.ReadIf(func(l tabular.Row) (ok bool) {
			again, ok = newBinding(l.Text)
			return ok && l.Err == nil && again.id == b.id
		})
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		bound = again.over(i, l.Line, bound)
	}
	for _, b := range bound {
		i.element(b.label, b.value)
	}
	return i, nil
}

// over applies a command to the elements of an identifier: it adds an element or changes the value of one.
func (b binding) over(i *Item, line int64, bound []binding) []binding {
	at := slices.IndexFunc(bound, func(before binding) bool { return before.label == b.label })
	if at < 0 {
		if b.how == "append" || b.how == "prepend" {
			i.addUnmappedField(b.label, "line %d: bind %[3]s of %[2]s changes elements that are not in the input", line,
				b.label, b.how)
		}
		return append(bound, b)
	}
	switch value := &bound[at].value; b.how {
	case "append", "add":
		*value += b.value
	case "prepend", "insert":
		*value = b.value + *value
	case "new":
		i.reject("line %d: bind new of %.100q, which already has a value", line, b.label)
	default:
		*value = b.value
	}
	return bound
}

// named sets the name to an identifier. ARKs (draft-kunze-ark-42 section 2.8) and URNs may contain
// percent-encodings, which are preserved; in handles and DOIs a percent sign is a literal character.
func (n *noids) named(i *Item, id string) {
	id = strings.TrimSpace(id)
	scheme, rest, _ := strings.Cut(id, ":")
	switch scheme = strings.ToLower(scheme); {
	case id == "":
	case !isAbsolute(id):
		i.nameEncoded(n.base, n.base+id, strings.TrimPrefix(below(n.base, escapedURIPath(id)), n.base))
	case scheme == "ark":
		i.nameEncoded("ark:", id, escapedURIPath(rest))
	case scheme == "doi", scheme == "hdl":
		i.nameEncoded(scheme+":", id, escapedID(rest))
	default:
		i.nameEncoded("", id, id)
	}
}

// anvlRecord parses an ANVL record: one element per line, continued on lines that begin with white space.
type anvlRecord struct {
	*Item
	encoded      bool
	label, value string // of the last element, "" before the first one
}

// record reads an ANVL record.
func (n *noids) record(begin tabular.Row, id string, encoded bool) (*Item, error) {
	r := anvlRecord{Item: newItem(begin.Line, begin.Text), encoded: encoded}
	n.named(r.Item, id)
	for count := 0; ; count++ {
		l, ok, err := n.ReadIf(func(l tabular.Row) bool {
			return strings.TrimSpace(l.Text) != "" && !strings.HasPrefix(l.Text, ":: ")
		})
		switch {
		case err != nil:
			return nil, err
		case !ok:
			r.convertElement()
			return r.Item, nil
		case count == maxValues:
			r.reject("more than %d elements", maxValues)
		}
		if r.Err != nil {
			continue // skip to its end
		}
		if err := r.add(l); err != nil {
			r.reject("line %d: %w", l.Line, err)
		}
	}
}

// convertElement converts the last element.
func (r *anvlRecord) convertElement() {
	if r.label != "" && r.Err == nil {
		r.element(r.label, r.value)
	}
	r.label, r.value = "", ""
}

var (
	errContinued = errors.New("continuation line without an element before")
	errNoElement = errors.New("not an element (label: value)")
	errLongValue = fmt.Errorf("element longer than %d bytes", registry.MaxMetadata)
)

// add parses a line.
func (r *anvlRecord) add(l tabular.Row) (err error) {
	label, value, hasColon := strings.Cut(l.Text, ":")
	switch {
	case l.Err != nil:
		return l.Err
	case l.Text[0] == '#':
		return nil
	case l.Text[0] == ' ' || l.Text[0] == '\t':
		if r.label == "" {
			return errContinued
		}
		value, err = anvlText(l.Text, r.encoded)
		r.value += " " + value
	case hasColon && strings.TrimSpace(label) != "":
		r.convertElement()
		if r.label, err = anvlText(label, r.encoded); err == nil {
			r.value, err = anvlText(value, r.encoded)
		}
	default:
		return errNoElement
	}
	if len(r.value) > registry.MaxMetadata {
		return errLongValue
	}
	return err
}

// errANVL is the error of a percent sign without two hexadecimal digits.
var errANVL = errors.New("a percent sign is followed by two hexadecimal digits " +
	"(EZID API, Metadata requests & responses)")

// anvlText trims a label or a value, and percent-decodes it if encoded.
func anvlText(text string, encoded bool) (string, error) {
	text = strings.TrimSpace(text)
	if !encoded || !strings.Contains(text, "%") {
		return text, nil
	}
	plain, err := url.PathUnescape(text)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errANVL, err)
	}
	return plain, nil
}

// element converts an element of an identifier.
func (i *Item) element(label, value string) {
	switch name := strings.ToLower(label); {
	case name == "_t", name == "_target":
		if value = strings.TrimSpace(value); value != "" {
			i.to(registry.Target{URI: value})
		}
	case slices.Contains([]string{"goto", "target", "location", "locations", "url"}, name):
		for _, uri := range strings.Fields(value) {
			i.to(registry.Target{URI: uri})
		}
	case name == "_status":
		i.ezidStatus(value)
	case name == "circ", strings.HasPrefix(label, ":"), name == "hold", name == "pepper":
		i.addUnmappedField(label, "%s, minting data: %.100s", label, value)
	case strings.HasPrefix(label, "_"):
		i.addUnmappedField(label, "%s of EZID: %.100s", label, value)
	default:
		i.describe(label, value)
	}
}

// ezidStatus converts a status of EZID: reserved, public, or unavailable with a reason.
func (i *Item) ezidStatus(text string) {
	status, reason, _ := strings.Cut(text, "|")
	switch strings.TrimSpace(status) {
	case "public":
		i.Active = true
	case "reserved":
		i.Entry.Status = registry.Reserved
	case "unavailable":
		i.Entry.Status, i.Entry.Reason = registry.Withdrawn, cmp.Or(strings.TrimSpace(reason), "unavailable")
	default:
		i.addUnmappedField("_status", "status %.40q", text)
	}
}
