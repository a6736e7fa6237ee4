package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk/webserver"
	"github.com/urnd/urnd/uri"
)

// foreign reads a format of another program.
type foreign interface {
	// next returns the next entry, with what cannot be imported as its fault; io.EOF after the last one. Another error ends
	// the import.
	next() (*item, error)
}

// openForeign returns what reads a foreign format. Bytes that are not valid in the encoding are reported to t where entries have lines, end
// the import where an entry cannot be rejected alone, and are found by documents, by XML and by tables themselves.
//
//nolint:cyclop // a case a format
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
		return newWebItems(webserver.Apache, t.source.Lines(lineFault), base)
	case Shlink:
		if isJSON {
			return &shlinkDocuments{newDocuments(t.source, "shortUrls", "data"), base}, nil
		}
		return &shlinkTable{newForeignTable(t.source), base}, nil
	case DNB:
		if isJSON {
			return &dnbDocuments{newDocuments(t.source, "items", "urns")}, nil
		}
		return newEpicur(t.source), nil
	case RewriteMap:
		return newWebItems(webserver.RewriteMap, lines(), base)
	case Nginx:
		return newWebItems(webserver.Nginx, t.source.Lines(lineFault), base)
	case NOID:
		return newNOIDs(lines(), base), nil
	case DataCite:
		return newDOIs(t.source, base), nil
	case YOURLS:
		if isJSON {
			return newYOURLSDocuments(t.source, base), nil
		}
		return &yourlsTable{newForeignTable(t.source), base}, nil
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

// unmapped is what of an entry cannot be carried over.
type unmapped struct {
	fields []string // their names in the foreign format, for the summary
	text   string
	more   int // how many of the same entry have no text of their own: maxLost
}

// String returns what is reported of it.
func (u unmapped) String() string {
	if u.more > 0 {
		return fmt.Sprintf("%s; and %d more", u.text, u.more)
	}
	return u.text
}

// lose lists what of the entry cannot be carried over.
func (i *item) lose(format string, args ...any) { i.loseFields(nil, format, args...) }

// loseField lists a field of the foreign format that cannot be carried over.
func (i *item) loseField(field, format string, args ...any) {
	i.loseFields([]string{field}, format, args...)
}

// loseFields is loseField of several fields.
func (i *item) loseFields(fields []string, format string, args ...any) {
	if len(i.lost) < maxLost {
		i.lost = append(i.lost, unmapped{fields: fields, text: fmt.Sprintf(format, args...)})
		return
	}
	last := &i.lost[maxLost-1]
	last.fields, last.more = append(slices.Clip(last.fields), fields...), last.more+1
}

// loseMembers lists the fields of the foreign format that are in the input and have no place in the registry.
func (i *item) loseMembers(names []string) {
	if len(names) > 0 {
		i.loseFields(names, "fields without a place here: %.500s", strings.Join(names, ", "))
	}
}

// reject has the entry not be imported. The first reason counts.
func (i *item) reject(format string, args ...any) {
	if i.fault == nil {
		i.fault = fmt.Errorf(format, args...)
	}
}

// named sets the name to that of a raw identifier of another system below base: an identifier is a string of bytes
// there, of which those that are not allowed in a path, and "%", "?" and "#", are percent-encoded (RFC 3986 section
// 2.1, RFC 8141 section 2.2).
func (i *item) named(base, id string) { i.nameEncoded(base, id, escapedID(id)) }

// nameEncoded sets the name to that of an identifier, which is encoded already.
func (i *item) nameEncoded(base, id, encoded string) {
	i.entry.Name, i.source = base+encoded, id
	switch {
	case hasAuthority(base) && hasDotSegment(encoded):
		i.reject("%w: %.200q", errDotSegment, id)
	case strings.HasSuffix(base, ":") && strings.HasPrefix(encoded, "//"):
		i.reject("%w: %.200q", errAuthority, id)
	}
}

// escapedID percent-encodes a raw identifier for the path of a URI and for the NSS of a URN, which allow the same
// bytes.
func escapedID(id string) string { return uri.Escape(id, pathBytes) }

// pathBytes are those of a path that are not unreserved: RFC 3986 section 3.3.
const pathBytes = "!$&'()*+,;=:@/"

// escapedURIPath is escapedID of an identifier that may have percent-encodings of its own, which stay.
func escapedURIPath(id string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(id, "%")
		b.WriteString(escapedID(before))
		if !found {
			return b.String()
		}
		if id = after; len(id) >= 2 && isHex(id[0]) && isHex(id[1]) {
			b.WriteByte('%')
		} else {
			b.WriteString("%25")
		}
	}
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// hasAuthority reports whether what a name begins with is the URL of a server, whose clients remove dot segments of the
// path.
func hasAuthority(base string) bool { return strings.Contains(base, "://") }

// hasDotSegment reports whether a path has a segment that normalization removes (RFC 3986 section 5.2.4). It cannot be
// encoded: "%2E" is ".".
func hasDotSegment(path string) bool {
	isDots := func(segment string) bool { return segment == "." || segment == ".." }
	return slices.ContainsFunc(strings.Split(path, "/"), isDots)
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
	if !isUTF8(member) || !isUTF8(value) { // JSON has no place for it
		i.reject("%.100q: %w", member, errNotUTF8)
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

// isUTF8 reports whether a text, or all of a list, is UTF-8.
func isUTF8(value any) bool {
	switch value := value.(type) {
	case string:
		return utf8.ValidString(value)
	case []string:
		return !slices.ContainsFunc(value, func(text string) bool { return !utf8.ValidString(text) })
	default:
		return true
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
	if strings.Contains(i.entry.Name, "#") || isURN(i.entry.Name) && strings.Contains(i.entry.Name, "?") {
		i.fault = errComponents
		return
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

// pathBase returns what comes before a path without its first slash: a base that is the URL of a server ends with one.
func pathBase(base string) string {
	if hasAuthority(base) && !strings.HasSuffix(base, "/") {
		return base + "/"
	}
	return base
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

var (
	errNotUTF8    = errors.New("the text is not UTF-8")
	errComponents = errors.New("the name has a query or fragment, which would not be registered " +
		"(RFC 8141 section 2.3, RFC 3986 section 3.5)")
	errAuthority  = errors.New("two slashes at the beginning would be followed by a host (RFC 3986 section 3)")
	errDotSegment = errors.New("the path has a segment \".\" or \"..\", which clients remove (RFC 3986 section 5.2.4)")
)

func isURN(name string) bool {
	const urn = "urn:"
	return len(name) > len(urn) && strings.EqualFold(name[:len(urn)], urn)
}

// errNowhere is the fault of an entry that has no address.
var errNowhere = errors.New("it leads nowhere: it has no address that can be imported")
