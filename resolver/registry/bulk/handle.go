package bulk

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// handleValue is a value of a handle (RFC 3651 section 3.1).
type handleValue struct {
	Index int    `json:"index"`
	Type  string `json:"type"`
	TTL   int    `json:"ttl"`
	Data  struct {
		Format string          `json:"format"`
		Value  json.RawMessage `json:"value"`
	} `json:"data"`
	Permissions string `json:"permissions"`
}

// usualHandleTTL is what the tools of Handle.net give each value, in seconds.
const usualHandleTTL = 86400

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
	text := strings.TrimLeft(string(start), " \t\r\n")
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{") || text == "[" || strings.HasPrefix(text, "[\n") || strings.HasPrefix(text, "[ ")
}

// handleDocuments reads JSON of the REST interface of handle servers and of hdl.handle.net/api.
type handleDocuments struct {
	*documents
	base string
}

func (h *handleDocuments) next() (*item, error) {
	text, err := h.documents.next()
	if err != nil {
		return nil, err
	}
	var of struct {
		Code   int           `json:"responseCode"`
		Handle string        `json:"handle"`
		Values []handleValue `json:"values"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return rejected(h.number, string(text), "it is no handle: %w", err), nil
	}
	if of.Code > 1 {
		return rejected(h.number, of.Handle, "the server answered with the code %d, and not with the handle", of.Code), nil
	}
	i := newItem(h.number, of.Handle)
	if of.Handle != "" {
		i.entry.Name = h.base + of.Handle
	}
	for _, v := range of.Values {
		i.handleValue(h.base, v)
	}
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
			i.entry.Name = h.base + strings.TrimSpace(name)
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
	for range maxValues {
		l, err := h.peek()
		if errors.Is(err, io.EOF) || err == nil && !isValue(l.text) {
			return nil
		}
		if err != nil {
			return err
		}
		_, _ = h.textLines.next() // it was read
		v, err := handleValueOf(l)
		if err != nil {
			i.lose("line %d: %v", l.number, err)
			continue
		}
		i.handleValue(h.base, v)
	}
	return fmt.Errorf("%s has more than %d values", i.entry.Name, maxValues)
}

// handleValueOf reads a line such as "1 URL 86400 1110 UTF8 https://example.org/".
func handleValueOf(l textLine) (v handleValue, err error) {
	if l.fault != nil {
		return v, l.fault
	}
	words := strings.SplitN(l.text, " ", 6)
	if len(words) < 6 {
		return v, errors.New("a value has an index, a type, a TTL, permissions, an encoding and data")
	}
	if v.Index, err = strconv.Atoi(words[0]); err == nil {
		v.TTL, err = strconv.Atoi(words[2])
	}
	if err != nil {
		return v, errors.New("its index or TTL is not a number")
	}
	v.Type, v.Permissions, v.Data.Format = words[1], words[3], words[4]
	v.Data.Value, err = json.Marshal(strings.TrimSpace(words[5]))
	return v, err
}

// handleValue takes a value of a handle.
func (i *item) handleValue(base string, v handleValue) {
	what := fmt.Sprintf("value %d (%.100q)", v.Index, v.Type)
	var text string
	isText := json.Unmarshal(v.Data.Value, &text) == nil && (strings.EqualFold(v.Data.Format, "string") || v.Data.Format == "UTF8")
	switch {
	case len(v.Permissions) == 4 && v.Permissions[2] == '0': // admin read, admin write, public read, public write
		i.lose("%s: it is not for the public to read", what)
		return
	case strings.HasPrefix(v.Type, "HS_") && v.Type != "HS_ALIAS":
		i.lose("%s: it is for the administration of handles; who may change names is said by tokens", what)
		return
	case !isText:
		i.lose("%s: its data is no text, but %.40q", what, v.Data.Format)
		return
	}
	if v.TTL != usualHandleTTL && v.TTL != 0 {
		i.lose("%s: its TTL of %d seconds: registered names have that of the configuration", what, v.TTL)
	}
	switch strings.ToUpper(v.Type) {
	case "URL":
		i.locate(registry.Target{URI: text})
	case "HS_ALIAS":
		i.entry.Alias = base + text
		i.said.add(fieldAlias)
	case "EMAIL":
		i.contact(i.entry.Contact, text)
	case "10320/LOC":
		i.locations(what, strings.TrimPrefix(i.entry.Name, base), text)
	default:
		i.describe(v.Type, text)
	}
}
