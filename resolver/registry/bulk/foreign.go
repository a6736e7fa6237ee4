package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// foreign reads a format of another program.
type foreign interface {
	// next returns the next entry, with what cannot be imported as its fault; io.EOF after the last one. Another error ends
	// the import.
	next() (*item, error)
}

// maxItems is how many entries of a foreign format are a block.
const maxItems = 64

// openForeign returns what reads a foreign format, nil if it is none.
func openForeign(format Format, r io.Reader, base string) (foreign, error) {
	switch format {
	case Bioregistry:
		return newBioregistry(r, base)
	case Handle:
		return newHandles(r, base), nil
	case PURL:
		return newPURLs(r, base)
	case W3ID:
		return newHtaccess(r, base)
	case Shlink:
		return newShlinks(r, base), nil
	case DNB:
		return newDNB(r), nil
	case RewriteMap:
		return &rewriteMap{newTextLines(r), base}, nil
	case Nginx:
		return newNginx(r, base), nil
	case NOID:
		return newNOIDs(r, base), nil
	case DataCite:
		return newDOIs(r, base), nil
	default:
		return nil, nil //nolint:nilnil // it is none
	}
}

// item is an entry of a foreign format: what it says of a name, as a line of ours.
type item struct {
	line
	input    string // what is shown of it
	fault    error  // why it cannot be imported
	metadata map[string]any
}

func newItem(number int64, input string) *item {
	return &item{line: line{number: number}, input: trimLine(input[:min(len(input), shown)])}
}

// rejected returns an entry that cannot be imported.
func rejected(number int64, input, format string, args ...any) *item {
	i := newItem(number, input)
	i.fault = fmt.Errorf(format, args...)
	return i
}

// maxLost bounds what is listed of one entry.
const maxLost = 50

// lose lists what of the entry cannot be carried over.
func (i *item) lose(format string, args ...any) {
	if len(i.lost) < maxLost {
		i.lost = append(i.lost, fmt.Sprintf(format, args...))
	}
}

// to adds a target.
func (i *item) to(t registry.Target) {
	i.said.add(fieldTargets)
	i.more = append(i.more, t)
}

// is sets the status, and the reason of one that is withdrawn.
func (i *item) is(s registry.Status, reason string) {
	i.entry.Status, i.entry.Reason = s, reason
	i.said.add(fieldStatus)
	i.said.add(fieldReason)
}

// redirects sets the status of redirects, unless it is the one that all have.
func (i *item) redirects(status string) {
	if status == "" {
		return
	}
	var err error
	if i.entry.Redirect, err = registry.ParseRedirect(status); err != nil {
		i.lose("the status %s of its redirect, which is none", status)
		return
	}
	i.said.add(fieldRedirect)
}

// describe adds a member of the metadata, unless it is empty; further values of one member make a list.
func (i *item) describe(member string, value any) {
	if text, ok := value.(string); ok && strings.TrimSpace(text) == "" {
		return
	}
	if i.metadata == nil {
		i.metadata = make(map[string]any)
	}
	switch before := i.metadata[member].(type) {
	case nil:
		i.metadata[member] = value
	case []any:
		i.metadata[member] = append(before, value)
	default:
		i.metadata[member] = []any{before, value}
	}
}

// contact sets whom to ask, of several.
func (i *item) contact(who ...string) {
	who = slices.DeleteFunc(who, func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(who) > 0 {
		i.entry.Contact = strings.Join(who, ", ")
		i.said.add(fieldContact)
	}
}

// done finishes the line.
func (i *item) done() {
	if i.fault != nil {
		return
	}
	if len(i.metadata) > 0 {
		text, err := json.Marshal(i.metadata)
		if err != nil {
			i.fault = fmt.Errorf("its metadata: %w", err)
			return
		}
		i.entry.Metadata = string(text)
		i.said.add(fieldMetadata)
	}
	if i.fault = i.finish(); i.fault == nil && i.entry.Status == registry.Active && len(i.entry.Targets) == 0 && i.entry.Alias == "" {
		i.fault = errNowhere
	}
}

// below returns the name of a path, below what comes before it.
func below(base, path string) string {
	if strings.HasSuffix(base, "/") {
		path = strings.TrimLeft(path, "/")
	}
	return base + path
}

// isAbsolute reports whether a text begins with a scheme, as URIs do (RFC 3986 section 3.1).
func isAbsolute(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return ok && scheme != "" && strings.IndexFunc(scheme, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.'
	}) < 0
}

// ErrLost is wrapped by the reasons of what of an entry of a foreign format cannot be carried over.
var ErrLost = errors.New("not carried over")

// errNowhere is the fault of an entry that has no address.
var errNowhere = errors.New("it leads nowhere: it has no address that can be imported")

// errBase is the error where a format has only paths.
var errBase = errors.New("the format has only paths: --base is what comes before them, such as https://purl.example.org/")

// translation gives a foreign format in blocks.
type translation struct {
	from  foreign
	ended bool
}

func (t *translation) next() (block, error) {
	var b block
	for len(b.items) < maxItems && !t.ended {
		i, err := t.from.next()
		switch {
		case errors.Is(err, io.EOF):
			t.ended = true
		case err != nil:
			return block{}, fmt.Errorf("reading the input: %w", err)
		default:
			b.items = append(b.items, i)
		}
	}
	if len(b.items) == 0 {
		return block{}, io.EOF
	}
	b.line = b.items[0].number
	return b, nil
}

// lines implements parser.
func (*translation) lines(b block, take func(l *line, input string, fault error)) {
	for _, i := range b.items {
		i.done()
		take(&i.line, i.input, i.fault)
	}
}
