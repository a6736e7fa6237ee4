package bulk

import (
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// noids reads what NOID and EZID have of identifiers: commands bind, one a line, or records of ANVL, as "noid fetch" and the batch
// downloads of EZID write them.
type noids struct {
	*textLines
	base string
}

func newNOIDs(r io.Reader, base string) foreign {
	if base == "" {
		base = "ark:/"
	}
	return &noids{newTextLines(r), base}
}

// isBinding reports whether it is one of the ways to bind that add a value (Noid.pm).
func isBinding(how string) bool {
	return slices.Contains([]string{"new", "replace", "set", "append", "prepend", "add", "insert", "mint"}, how)
}

func (n *noids) next() (*item, error) {
	for {
		l, err := n.textLines.next()
		if err != nil {
			return nil, err
		}
		text := strings.TrimSpace(l.text)
		switch label, value, found := strings.Cut(text, ":"); {
		case l.fault != nil:
			return rejected(l.number, l.text, "%w", l.fault), nil //nolint:nilerr // the line is rejected by it
		case text == "" || text[0] == '#':
			continue
		case strings.HasPrefix(text, ":: "):
			return n.record(l, text[len(":: "):])
		case isCommand(text):
			return n.bind(l, strings.TrimPrefix(text, "noid ")), nil
		case found && strings.EqualFold(strings.TrimSpace(label), "id"):
			return n.record(l, value)
		default:
			return rejected(l.number, l.text, "it is neither a command bind nor the beginning of a record, as \"id: 13030/x1\""), nil
		}
	}
}

func isCommand(text string) bool {
	return strings.HasPrefix(text, "bind ") || strings.HasPrefix(text, "noid ") || strings.HasPrefix(text, "hold ") || strings.HasPrefix(text, "queue ")
}

// bind makes a name of a command such as "bind set 13030/x1 goto https://example.org/", and of those that follow for the same name.
func (n *noids) bind(l textLine, text string) *item {
	id, label, value, ok := binding(text)
	if !ok {
		return rejected(l.number, l.text, "only bind with new, set, replace, append, prepend, add and insert is imported")
	}
	i := newItem(l.number, l.text)
	i.entry.Name = n.name(id)
	i.element(label, value)
	for range maxValues {
		next, err := n.peek()
		if err != nil || next.fault != nil {
			break
		}
		again, label, value, ok := binding(strings.TrimPrefix(strings.TrimSpace(next.text), "noid "))
		if !ok || again != id {
			break
		}
		i.element(label, value)
		_, _ = n.textLines.next() // it was read
	}
	return i
}

// binding divides a command bind.
func binding(text string) (id, label, value string, ok bool) {
	words := strings.SplitN(text, " ", 5)
	if len(words) < 5 || words[0] != "bind" || !isBinding(words[1]) {
		return "", "", "", false
	}
	value = strings.TrimSpace(words[4])
	if len(value) > 1 && (value[0] == '\'' || value[0] == '"') && value[len(value)-1] == value[0] {
		value = value[1 : len(value)-1]
	}
	return words[2], words[3], value, true
}

// name returns the name of an identifier.
func (n *noids) name(id string) string {
	if id = strings.TrimSpace(id); isAbsolute(id) {
		return id
	}
	return below(n.base, id)
}

// record reads a record of ANVL: a line each element, which goes on where the next line begins with a space.
func (n *noids) record(begin textLine, id string) (*item, error) {
	i := newItem(begin.number, begin.text)
	i.entry.Name = n.name(id)
	label, value := "", ""
	take := func() {
		if label != "" {
			i.element(label, value)
		}
		label, value = "", ""
	}
	for range maxValues {
		l, err := n.peek()
		isEnd := errors.Is(err, io.EOF) || err == nil && (strings.TrimSpace(l.text) == "" || strings.HasPrefix(l.text, ":: "))
		if isEnd {
			take()
			return i, nil
		}
		if err != nil {
			return nil, err
		}
		_, _ = n.textLines.next() // it was read
		switch before, after, ok := strings.Cut(l.text, ":"); {
		case l.fault != nil:
			i.lose("line %d: %v", l.number, l.fault)
		case l.text[0] == '#':
		case l.text[0] == ' ' || l.text[0] == '\t':
			value += " " + strings.TrimSpace(l.text)
		case ok:
			take()
			label, value = strings.TrimSpace(before), strings.TrimSpace(after)
		default:
			i.lose("line %d is no element", l.number)
		}
		if len(value) > registry.MaxMetadata {
			i.fault = errLong
		}
	}
	i.fault = errors.New("it has too many elements")
	return i, nil
}

// element takes an element of an identifier.
func (i *item) element(label, value string) {
	if plain, err := url.PathUnescape(label); err == nil { // ANVL encodes a colon in a label, and line ends
		label = plain
	}
	isTarget := slices.Contains([]string{"goto", "_t", "_target", "target", "location", "locations", "url"}, strings.ToLower(label))
	if !isTarget {
		if plain, err := url.PathUnescape(value); err == nil && strings.Contains(value, "%0A") {
			value = plain
		}
	}
	switch name := strings.ToLower(label); {
	case isTarget:
		for _, uri := range strings.Fields(value) {
			i.to(registry.Target{URI: uri})
		}
	case name == "_status":
		i.ezidStatus(value)
	case name == "circ", strings.HasPrefix(label, ":/"), name == "hold", name == "pepper":
		i.lose("%s, which is of its minting: %.100s", label, value)
	case strings.HasPrefix(label, "_"):
		i.lose("%s of EZID: %.100s", label, value)
	default:
		i.describe(label, value)
	}
}

// ezidStatus takes a status of EZID: reserved, public, or unavailable with a reason.
func (i *item) ezidStatus(text string) {
	status, reason, _ := strings.Cut(text, "|")
	switch strings.TrimSpace(status) {
	case "public":
		i.is(registry.Active, "")
	case "reserved":
		i.is(registry.Reserved, "")
	case "unavailable":
		if reason = strings.TrimSpace(reason); reason == "" {
			reason = "unavailable"
		}
		i.is(registry.Withdrawn, reason)
	default:
		i.lose("its status %.40q", text)
	}
}
