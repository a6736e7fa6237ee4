package bulk

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/registry"
)

// handleValue is a value of a handle (RFC 3651 section 3.1).
type handleValue struct {
	Index int             `json:"index"`
	Type  string          `json:"type"`
	TTL   json.RawMessage `json:"ttl"` // a number of seconds, or a time
	Data  struct {
		Format string          `json:"format"`
		Value  json.RawMessage `json:"value"`
	} `json:"data"`
	Permissions string   `json:"permissions"`
	Timestamp   any      `json:"timestamp"`
	unmapped    []string // members beside these
}

// isUsualTTL reports whether a TTL is none, or what the tools of Handle.net give each value, in seconds.
func isUsualTTL(ttl string) bool {
	return slices.Contains([]string{"", "null", "0", "86400"}, ttl)
}

// newHandles reads handles: a batch of the Handle.net software with CREATE, or JSON as its proxies answer.
func newHandles(r io.Reader, base string) foreign {
	if base == "" {
		base = "hdl:"
	}
	b := bufio.NewReaderSize(r, 64<<10)
	if start, _ := b.Peek(shown); beginsJSON(start) {
		return &handleDocuments{newDocuments(b), base}
	}
	return &handleBatch{newTextLines(b), base}
}

// beginsJSON reports whether a text begins as JSON objects, and lists of them, do.
func beginsJSON(start []byte) bool {
	const spaces = " \t\r\n"
	text := strings.TrimLeft(string(start), spaces)
	list, isList := strings.CutPrefix(text, "[")
	list = strings.TrimLeft(list, spaces)
	return strings.HasPrefix(text, "{") || isList && (list == "" || list[0] == '{' || list[0] == ']')
}

// handleDocuments reads JSON of the REST interface of handle servers and of hdl.handle.net/api.
type handleDocuments struct {
	*documents
	base string
}

func (h *handleDocuments) next() (*item, error) {
	var of struct {
		Code   int               `json:"responseCode"`
		Handle string            `json:"handle"`
		Values []json.RawMessage `json:"values"`
	}
	text, bad, err := h.entry("handle", &of)
	if bad != nil || err != nil {
		return bad, err
	}
	if of.Code > 1 {
		return rejected(h.number, of.Handle, "the server answered with the code %d, and not with the handle", of.Code), nil
	}
	i := newItem(h.number, of.Handle)
	if of.Handle != "" {
		i.named(h.base, of.Handle)
	}
	i.loseMembers(unmappedMembers(text, "", "responseCode", "handle", "values"))
	if len(of.Values) > maxValues {
		i.reject("it has more than %d values", maxValues)
		return i, nil
	}
	values := make([]handleValue, len(of.Values))
	for n, value := range of.Values {
		v := &values[n]
		if err := json.Unmarshal(value, v); err != nil {
			i.reject("value %d: %w", n+1, err)
			return i, nil
		}
		v.unmapped = unmappedMembers(value, "", "index", "type", "ttl", "data", "permissions", "timestamp")
	}
	i.handleValues(h.base, values)
	return i, nil
}

// handleBatch reads a batch: commands, each with lines of values, up to an empty line.
type handleBatch struct {
	*textLines
	base string
}

var errNotCreate = errors.New("it is a change of a handle, and not a handle: only CREATE is imported")

func (h *handleBatch) next() (*item, error) {
	for {
		l, err := h.textLines.next()
		if err != nil {
			return nil, err
		}
		command, name, _ := strings.Cut(strings.TrimSpace(l.text), " ")
		switch {
		case l.fault != nil:
			return rejected(l.number, l.text, "%w", l.fault), nil //nolint:nilerr // the line is rejected by it
		case command == "":
			continue
		case command == "CREATE":
			i := newItem(l.number, l.text)
			if name = strings.TrimSpace(name); name != "" {
				i.named(h.base, name)
			}
			return i, h.values(i)
		}
		what := command // what follows may be a secret
		if err := h.skip(); err != nil {
			return nil, err
		}
		switch command {
		case "AUTHENTICATE", "SESSIONSETUP", "USESESSION":
			continue // how the batch was sent
		case "DELETE", "ADD", "REMOVE", "MODIFY", "HOME", "UNHOME":
			return rejected(l.number, what+" "+name, "%w", errNotCreate), nil
		default:
			return rejected(l.number, what, "it is no command of a batch, such as CREATE"), nil
		}
	}
}

// isValue reports whether a line of a batch belongs to the command before: that of a value begins with its index.
func isValue(text string) bool {
	return text != "" && text[0] >= '0' && text[0] <= '9'
}

// skip leaves out what belongs to a command.
func (h *handleBatch) skip() error {
	for {
		l, err := h.peek()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if l.fault == nil && (strings.TrimSpace(l.text) == "" || strings.HasPrefix(l.text, "CREATE ")) {
			return nil
		}
		_, _ = h.textLines.next() // it was read
	}
}

// maxValues bounds the values of a handle.
const maxValues = 1000

// values reads the values of a handle.
func (h *handleBatch) values(i *item) error {
	var values []handleValue
	for {
		l, err := h.peek()
		if errors.Is(err, io.EOF) || err == nil && !isValue(l.text) {
			i.handleValues(h.base, values)
			return nil
		}
		if err != nil {
			return err
		}
		_, _ = h.textLines.next() // it was read
		v, err := handleValueOf(l)
		switch {
		case err != nil:
			i.reject("line %d: %w", l.number, err)
		case len(values) == maxValues:
			i.reject("it has more than %d values", maxValues)
		default:
			values = append(values, v)
		}
	}
}

// handleValueOf reads a line such as "1 URL 86400 1110 UTF8 https://example.org/".
func handleValueOf(l textLine) (v handleValue, err error) {
	if l.fault != nil {
		return v, l.fault
	}
	words := strings.SplitN(l.text, " ", 6)
	if len(words) == 5 { // editors remove spaces at the end of lines
		words = append(words, "")
	}
	if len(words) < 6 {
		return v, errors.New("a value has an index, a type, a TTL, permissions, an encoding and data")
	}
	if v.Index, err = strconv.Atoi(words[0]); err != nil {
		return v, errors.New("its index is not a number")
	}
	if !utf8.ValidString(l.text) {
		return v, errNotUTF8
	}
	v.Type, v.TTL, v.Permissions, v.Data.Format = words[1], json.RawMessage(words[2]), words[3], words[4]
	v.Data.Value, err = json.Marshal(words[5])
	return v, err
}

// handleValues takes the values of a handle in the order of their indexes, which is that in which a client is led to
// one.
func (i *item) handleValues(base string, values []handleValue) {
	slices.SortStableFunc(values, func(a, b handleValue) int { return cmp.Compare(a.Index, b.Index) })
	timestamps := 0
	for _, v := range values {
		if i.handleValue(base, v); v.Timestamp != nil {
			timestamps++
		}
	}
	if i.entry.Alias != "" && len(i.more) > 0 { // a client follows the alias first (RFC 3651 section 3.2.3)
		i.loseField("URL", "its %d addresses, which are not used: it is an alias", len(i.more))
		i.more = nil
		i.said &^= 1 << fieldTargets
	}
	if timestamps > 0 {
		i.loseField("timestamp", "when %d of its values were changed", timestamps)
	}
}

// handleValue takes a value of a handle.
func (i *item) handleValue(base string, v handleValue) {
	what := fmt.Sprintf("value %d (%.100q)", v.Index, v.Type)
	text, reason := v.publicText()
	if reason != "" {
		i.loseField(v.Type, "%s: %s", what, reason)
		return
	}
	i.loseAttributes(what, &v)
	switch strings.ToUpper(v.Type) {
	case "URL":
		i.locate(registry.Target{URI: strings.TrimSpace(text)})
	case "HS_ALIAS":
		if i.entry.Alias != "" {
			i.loseField(v.Type, "%s: a further alias: %.200q", what, text)
			return
		}
		i.entry.Alias = base + escapedID(strings.TrimSpace(text))
		i.said.add(fieldAlias)
	case "EMAIL":
		i.contact(i.entry.Contact, text)
	case "10320/LOC":
		i.locations(what, i.source, text)
	default:
		i.describe(v.Type, text)
	}
}

// publicText returns the data of a value, or the reason why it is not imported.
func (v *handleValue) publicText() (text, reason string) {
	const publicRead = 2 // of admin read, admin write, public read, public write
	isText := strings.EqualFold(v.Data.Format, "string") || v.Data.Format == "UTF8"
	isText = isText && json.Unmarshal(v.Data.Value, &text) == nil
	switch {
	case len(v.Permissions) == len(usualPermissions) && v.Permissions[publicRead] == '0':
		return "", "it is not for the public to read"
	case strings.HasPrefix(v.Type, "HS_") && v.Type != "HS_ALIAS":
		return "", "it is for the administration of handles; who may change names is said by tokens"
	case !isText:
		return "", fmt.Sprintf("its data is no text, but %.40q", v.Data.Format)
	default:
		return text, ""
	}
}

// loseAttributes lists what a value has beside its data.
func (i *item) loseAttributes(what string, v *handleValue) {
	if !isUsualTTL(string(v.TTL)) {
		i.loseField("ttl", "%s: its TTL of %.40s seconds: registered names have that of the configuration", what, v.TTL)
	}
	if v.Permissions != "" && v.Permissions != usualPermissions {
		i.loseField("permissions", "%s: its permissions %.40s: who may change names is said by tokens", what, v.Permissions)
	}
	if len(v.unmapped) > 0 {
		i.loseFields(v.unmapped, "%s: %.200s", what, strings.Join(v.unmapped, ", "))
	}
}

// usualPermissions are those of a value that the public reads and its administrators change.
const usualPermissions = "1110"
