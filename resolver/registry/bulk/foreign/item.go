package foreign

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/uri"
)

// Item is an entry of a foreign format, converted to an entry of the registry. An empty field leaves the
// registered value unchanged.
type Item struct {
	Line  int64
	Input string // the text that messages show
	ID    string // the identifier in the format; "" if each entry has a part of a name's record
	Entry registry.Entry
	// Active means that the entry explicitly has the status active, which is also the zero value.
	Active   bool
	Unmapped []Unmapped
	Err      error // why it cannot be imported
	metadata map[string]any
}

func newItem(line int64, input string) *Item { return &Item{Line: line, Input: shown(input)} }

// shown truncates the text of an entry for messages.
func shown(text string) string { return strings.TrimRight(text[:min(len(text), maxShown)], "\r\n") }

// rejected returns an entry that cannot be imported.
func rejected(line int64, input, format string, args ...any) *Item {
	i := newItem(line, input)
	i.reject(format, args...)
	return i
}

// MaxUnmapped bounds the unmapped fields that are listed of one entry.
const MaxUnmapped = 50

// Unmapped describes unmapped fields of an entry.
type Unmapped struct {
	Fields []string // names in the foreign format, for the summary
	text   string
	more   int // number of further descriptions beyond MaxUnmapped
}

// String returns the description for reports.
func (u Unmapped) String() string {
	if u.more > 0 {
		return fmt.Sprintf("%s; and %d more", u.text, u.more)
	}
	return u.text
}

// addUnmappedField lists an unmapped field of the foreign format.
func (i *Item) addUnmappedField(field, format string, args ...any) {
	i.addUnmapped([]string{field}, format, args...)
}

// addUnmapped is addUnmappedField for several fields.
func (i *Item) addUnmapped(fields []string, format string, args ...any) {
	if len(i.Unmapped) < MaxUnmapped {
		i.Unmapped = append(i.Unmapped, Unmapped{Fields: fields, text: fmt.Sprintf(format, args...)})
		return
	}
	last := &i.Unmapped[MaxUnmapped-1]
	last.Fields, last.more = append(slices.Clip(last.Fields), fields...), last.more+1
}

// addUnmappedMembers lists input fields that the registry has no place for.
func (i *Item) addUnmappedMembers(names []string) {
	if len(names) > 0 {
		i.addUnmapped(names, "unknown fields: %.500s", strings.Join(names, ", "))
	}
}

// reject marks the entry as not importable. The first reason counts.
func (i *Item) reject(format string, args ...any) {
	if i.Err == nil {
		i.Err = fmt.Errorf(format, args...)
	}
}

// named sets the name to base and a raw identifier of another system, a string of bytes. Bytes that are not
// allowed in a path, and "%", "?" and "#", are percent-encoded (RFC 3986 section 2.1, RFC 8141 section 2.2).
func (i *Item) named(base, id string) { i.nameEncoded(base, id, escapedID(id)) }

// nameEncoded sets the name to base and an identifier that is percent-encoded already. It rejects paths that
// would change the meaning of the URL.
func (i *Item) nameEncoded(base, id, encoded string) {
	i.Entry.Name, i.ID = base+encoded, id
	switch {
	case hasAuthority(base) && hasDotSegment(encoded):
		i.reject("%w: %.200q", errDotSegment, id)
	case strings.HasSuffix(base, ":") && strings.HasPrefix(encoded, "//"):
		i.reject("%w: %.200q", errAuthority, id)
	}
}

// escapedID percent-encodes a raw identifier for the path of a URI or for the NSS of a URN, which allow the
// same bytes.
func escapedID(id string) string { return uri.Escape(id, pathBytes) }

// pathBytes are the bytes of a path that are allowed but not unreserved (RFC 3986 section 3.3).
const pathBytes = "!$&'()*+,;=:@/"

// escapedURIPath is escapedID for an identifier that may contain percent-encodings, which it preserves.
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

// hasAuthority reports whether the base of a name is a URL with an authority. Clients remove dot segments
// from the path of such a URL.
func hasAuthority(base string) bool { return strings.Contains(base, "://") }

// hasDotSegment reports whether a path has a segment that normalization removes (RFC 3986 section 5.2.4).
// Percent-encoding does not help: "%2E" is equivalent to ".".
func hasDotSegment(path string) bool {
	isDots := func(segment string) bool { return segment == "." || segment == ".." }
	return slices.ContainsFunc(strings.Split(path, "/"), isDots)
}

// to adds a target.
func (i *Item) to(t registry.Target) { i.Entry.Targets = append(i.Entry.Targets, t) }

// redirects sets the status code of redirects; "" leaves the default.
func (i *Item) redirects(status string) {
	if status == "" {
		return
	}
	var err error
	if i.Entry.Redirect, err = registry.ParseRedirect(status); err != nil {
		i.addUnmapped(nil, "invalid redirect status %s", status)
	}
}

// describe adds a member of the metadata, unless the value is empty; further values of the same member make a
// list.
func (i *Item) describe(member string, value any) {
	if text, ok := value.(string); ok && strings.TrimSpace(text) == "" {
		return
	}
	if !isUTF8(member) || !isUTF8(value) { // JSON requires UTF-8
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

// isUTF8 reports whether a text, or all texts of a list, are UTF-8.
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

// contact sets the contact to the non-empty texts.
func (i *Item) contact(who ...string) {
	who = slices.DeleteFunc(who, func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(who) > 0 {
		i.Entry.Contact = strings.Join(who, ", ")
	}
}

// finish checks the complete entry and sets its metadata.
func (i *Item) finish() {
	if i.Err != nil {
		return
	}
	if len(i.metadata) > 0 {
		text, err := field.Marshal(i.metadata)
		if err != nil {
			i.Err = fmt.Errorf("metadata: %w", err)
			return
		}
		i.Entry.Metadata = string(text)
	}
	switch e := &i.Entry; {
	case strings.Contains(e.Name, "#") || isURN(e.Name) && strings.Contains(e.Name, "?"):
		i.Err = errComponents
	case e.Name != "" && e.Status == registry.Active && len(e.Targets) == 0 && e.Alias == "":
		i.Err = errNowhere
	}
}

// below joins a base and a path without doubling the slash.
func below(base, path string) string {
	if strings.HasSuffix(base, "/") {
		path = strings.TrimLeft(path, "/")
	}
	return base + path
}

// pathBase returns the base of a path without its first slash: the base gets a trailing slash if it is a URL
// with an authority.
func pathBase(base string) string {
	if hasAuthority(base) && !strings.HasSuffix(base, "/") {
		return base + "/"
	}
	return base
}

// isAbsolute reports whether a text begins with a scheme (RFC 3986 section 3.1).
func isAbsolute(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return ok && scheme != "" && strings.IndexFunc(scheme, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.'
	}) < 0
}

var (
	errNotUTF8    = errors.New("text is not UTF-8")
	errComponents = errors.New("name with a query or fragment, which is not part of a registered name " +
		"(RFC 8141 section 2.3, RFC 3986 section 3.5)")
	errAuthority  = errors.New("two slashes at the start introduce a host (RFC 3986 section 3)")
	errDotSegment = errors.New("path with a segment \".\" or \"..\", which clients remove (RFC 3986 section 5.2.4)")
)

func isURN(name string) bool {
	const urn = "urn:"
	return len(name) > len(urn) && strings.EqualFold(name[:len(urn)], urn)
}

// errNowhere is the error of an active entry without target and alias.
var errNowhere = errors.New("no target: no address can be imported")
