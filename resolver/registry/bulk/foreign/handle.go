package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
)

// handleValue is a value of a handle (RFC 3651 section 3.1).
type handleValue struct {
	index       int
	kind        string
	ttl         string // a number of seconds, or a time
	permissions string
	text        string
	format      string // of data other than text
	timestamp   bool
	unmapped    []string // other members
}

// Handle reads handles: a batch file of the Handle.net software with CREATE commands, or JSON of the REST
// interface of handle servers and of hdl.handle.net/api.
func Handle(in *Input, base string) (Entries, error) {
	base = cmp.Or(base, "hdl:")
	if !in.isJSON() {
		b := &handleBatch{tabular.NewLines(in.lines()), base}
		return b.next, nil
	}
	return entries(newDocuments(in, in).next, "handle", func(r *record, i *Item) {
		code, handle := 0, r.string("handle")
		r.take(&code, "responseCode")
		i.Input = shown(handle)
		if code > 1 {
			i.reject("response code %d instead of a handle", code)
			return
		}
		if handle != "" {
			i.named(base, handle)
		}
		all := r.records("", "values")
		r.inner = nil // each value lists its own unmapped members
		i.addUnmappedMembers(r.rest())
		r.members = nil
		if len(all) > maxValues {
			i.reject("more than %d values", maxValues)
			return
		}
		values := make([]handleValue, len(all))
		for n, of := range all {
			values[n] = of.handleValue()
		}
		i.handleValues(base, values)
	}), nil
}

// handleValue decodes a value.
func (r *record) handleValue() (v handleValue) {
	r.take(&v.index, "index")
	v.kind, v.permissions = r.string("type"), r.string("permissions")
	var ttl json.RawMessage
	r.take(&ttl, "ttl")
	v.ttl = string(ttl)
	var data struct {
		Format string `json:"format"`
		Value  any    `json:"value"`
	}
	r.take(&data, "data")
	text, ok := data.Value.(string)
	v.setText(data.Format, text, ok)
	v.timestamp = r.scalar("timestamp") != ""
	v.unmapped = r.rest()
	return v
}

// setText sets the data of a value. Data in another format than text is marked by its format.
func (v *handleValue) setText(format, text string, ok bool) {
	if v.text = text; !ok || !strings.EqualFold(format, "string") && format != "UTF8" {
		v.format = fmt.Sprintf("%.40q", format)
	}
}

// handleBatch reads a batch file: commands, each followed by lines of values, up to an empty line.
type handleBatch struct {
	*tabular.Lines
	base string
}

var errNotCreate = errors.New("modification of a handle: only CREATE is imported")

func (h *handleBatch) next() (*Item, error) {
	for {
		l, err := h.Read()
		if err != nil {
			return nil, err
		}
		command, name, _ := strings.Cut(strings.TrimSpace(l.Text), " ")
		switch {
		case l.Err != nil:
			return rejected(l.Line, l.Text, "%w", l.Err), nil //nolint:nilerr // the line is rejected with the error
		case command == "":
			continue
		case command == "CREATE":
			i := newItem(l.Line, l.Text)
			if name = strings.TrimSpace(name); name != "" {
				i.named(h.base, name)
			}
			return i, h.values(i)
		}
		for ok := true; ok; { // skip the lines of the command
			_, ok, err = h.ReadIf(func(l tabular.Row) bool {
				return l.Err != nil || strings.TrimSpace(l.Text) != "" && !strings.HasPrefix(l.Text, "CREATE ")
			})
			if err != nil {
				return nil, err
			}
		}
		switch command {
		case "AUTHENTICATE", "SESSIONSETUP", "USESESSION":
			continue // authentication of the batch
		case "DELETE", "ADD", "REMOVE", "MODIFY", "HOME", "UNHOME":
			return rejected(l.Line, command+" "+name, "%w", errNotCreate), nil
		default: // do not report the rest, which may be a secret
			return rejected(l.Line, command, "not a batch command, such as CREATE"), nil
		}
	}
}

// values reads the values of a handle.
func (h *handleBatch) values(i *Item) error {
	var values []handleValue
	for {
		// A value begins with the digits of its index.
		l, ok, err := h.ReadIf(func(l tabular.Row) bool { return l.Text != "" && l.Text[0] >= '0' && l.Text[0] <= '9' })
		if err != nil {
			return err
		}
		if !ok {
			i.handleValues(h.base, values)
			return nil
		}
		v, err := handleValueOf(l)
		switch {
		case err != nil:
			i.reject("line %d: %w", l.Line, err)
		case len(values) == maxValues:
			i.reject("more than %d values", maxValues)
		default:
			values = append(values, v)
		}
	}
}

// handleValueOf parses a line such as "1 URL 86400 1110 UTF8 https://example.org/".
func handleValueOf(l tabular.Row) (v handleValue, err error) {
	if l.Err != nil {
		return v, l.Err
	}
	words := strings.SplitN(l.Text, " ", 6)
	if len(words) == 5 { // editors remove trailing spaces
		words = append(words, "")
	}
	if len(words) < 6 {
		return v, errors.New("a value has an index, a type, a TTL, permissions, an encoding and data")
	}
	if v.index, err = strconv.Atoi(words[0]); err != nil {
		return v, errors.New("index is not a number")
	}
	if !utf8.ValidString(l.Text) {
		return v, errNotUTF8
	}
	v.kind, v.ttl, v.permissions = words[1], words[2], words[3]
	v.setText(words[4], words[5], true)
	return v, nil
}

// handleValues converts the values of a handle in the order of their indexes, in which clients choose among
// them.
func (i *Item) handleValues(base string, values []handleValue) {
	slices.SortStableFunc(values, func(a, b handleValue) int { return cmp.Compare(a.index, b.index) })
	timestamps := 0
	for n := range values {
		if i.handleValue(base, &values[n]); values[n].timestamp {
			timestamps++
		}
	}
	// A client follows the alias first (RFC 3651 section 3.2.3).
	if n := len(i.Entry.Targets); i.Entry.Alias != "" && n > 0 {
		i.addUnmappedField("URL", "%d addresses, unused: the handle is an alias", n)
		i.Entry.Targets = nil
	}
	if timestamps > 0 {
		i.addUnmappedField("timestamp", "timestamps of %d values", timestamps)
	}
}

// defaultPermissions are those of a value that is publicly readable and that its administrators may change:
// admin read, admin write, public read, public write.
const (
	defaultPermissions = "1110"
	publicRead         = 2
)

// private returns the reason why a value is not imported, "" if it is imported.
func (v *handleValue) private() string {
	switch {
	case len(v.permissions) == len(defaultPermissions) && v.permissions[publicRead] == '0':
		return "not publicly readable"
	case strings.HasPrefix(v.kind, "HS_") && v.kind != "HS_ALIAS":
		return "administrative value: permissions are those of tokens"
	case v.format != "":
		return "data is not text, but " + v.format
	default:
		return ""
	}
}

// handleValue converts a value of a handle.
func (i *Item) handleValue(base string, v *handleValue) {
	what := fmt.Sprintf("value %d (%.100q)", v.index, v.kind)
	if reason := v.private(); reason != "" {
		i.addUnmappedField(v.kind, "%s: %s", what, reason)
		return
	}
	if !slices.Contains([]string{"", "null", "0", "86400"}, v.ttl) { // none, or the default of the Handle.net tools
		i.addUnmappedField("ttl", "%s: TTL of %.40s seconds: registered names have the configured one", what, v.ttl)
	}
	if v.permissions != "" && v.permissions != defaultPermissions {
		i.addUnmappedField("permissions", "%s: permissions %.40s: permissions are those of tokens", what, v.permissions)
	}
	if len(v.unmapped) > 0 {
		i.addUnmapped(v.unmapped, "%s: %.200s", what, strings.Join(v.unmapped, ", "))
	}
	switch strings.ToUpper(v.kind) {
	case "URL":
		i.locate(registry.Target{URI: strings.TrimSpace(v.text)})
	case "HS_ALIAS":
		if i.Entry.Alias != "" {
			i.addUnmappedField(v.kind, "%s: a further alias: %.200q", what, v.text)
			return
		}
		i.Entry.Alias = base + escapedID(strings.TrimSpace(v.text))
	case "EMAIL":
		i.contact(i.Entry.Contact, v.text)
	case "10320/LOC":
		i.locations(what, i.ID, v.text)
	default:
		i.describe(v.kind, v.text)
	}
}
