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

// openForeign returns what reads a foreign format. Bytes that are not valid in the encoding are reported to t where entries have lines, end
// the import where an entry cannot be rejected alone, and are found by documents, by XML and by tables themselves.
func (t *translation) openForeign(format Format, base string) (foreign, error) {
	isJSON := t.beginsJSON()
	lines := func() io.Reader { return t.source.Lines(t.noteLine) }
	switch format {
	case Bioregistry:
		return newBioregistry(t.source.Lines(lineFault), base)
	case Handle:
		if isJSON {
			return newHandles(t.source, base), nil
		}
		return newHandles(lines(), base), nil
	case PURL:
		return newPURLs(t.source, base), nil
	case W3ID:
		return newHtaccess(lines(), base)
	case Shlink:
		if isJSON {
			return &shlinkDocuments{newDocuments(t.source, "shortUrls", "data"), base}, nil
		}
		return newShlinkTable(t.source, base)
	case DNB:
		if isJSON {
			return &dnbDocuments{newDocuments(t.source, "items", "urns")}, nil
		}
		return &epicur{newXMLElements(t.source)}, nil
	case RewriteMap:
		return &rewriteMap{newTextLines(lines()), base}, nil
	case Nginx:
		return newNginx(t.source.Lines(lineFault), base), nil
	case NOID:
		return newNOIDs(lines(), base), nil
	case DataCite:
		return newDOIs(t.source, base), nil
	default:
		return nil, fmt.Errorf("%s is not a format of imports", format)
	}
}

// beginsJSON reports whether the source begins as JSON objects, and lists of them, do.
func (t *translation) beginsJSON() bool {
	start, _ := t.source.Peek(shown) // an error comes again
	return beginsJSON(start)
}

// lineFault is an error of a line that ends an import.
func lineFault(line int64, _ string, fault error) error {
	return fmt.Errorf("line %d: %w", line, fault)
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

// ErrDoubtful is wrapped by the reasons why a name is doubtful that is imported.
var ErrDoubtful = errors.New("a warning")

// ErrLost is wrapped by the reasons of what of an entry of a foreign format cannot be carried over.
var ErrLost = errors.New("not carried over")

// errNowhere is the fault of an entry that has no address.
var errNowhere = errors.New("it leads nowhere: it has no address that can be imported")
