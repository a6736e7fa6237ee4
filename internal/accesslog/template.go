package accesslog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// value appends a value of an entry unescaped, or nothing if the entry has no value.
type value func(b []byte, e *Entry) []byte

// part is a compiled token of a template with the text before it.
type part struct {
	literal string
	value   value // nil: the part is only literal
	quote   *quoting
	// least and most are the minimum and maximum width in bytes. most truncates texts; 0 is no maximum.
	least, most     int
	left, zero      bool // padded on the right; padded with zeros
	isNumber, blank bool // isNumber: never truncated; blank: a missing value is "" instead of "-"
	statuses        []int
	except          bool // applies to statuses that are not in the list
}

// append appends the part for an entry.
func (p *part) append(b []byte, r *record) []byte {
	if len(p.literal) == 1 { // usually a space; faster than a copy
		b = append(b, p.literal[0])
	} else {
		b = append(b, p.literal...)
	}
	if p.value == nil {
		return b
	}
	if len(p.statuses) > 0 && slices.Contains(p.statuses, r.Status) == p.except {
		return append(b, '-')
	}
	start := len(b)
	b = p.value(b, &r.Entry)
	switch {
	case len(b) > start:
	case p.blank:
		return b
	default:
		return append(b, '-')
	}
	if p.quote != nil && !p.quote.accepts(b[start:]) {
		r.raw = append(r.raw[:0], b[start:]...)
		if p.most > 0 && !p.isNumber {
			r.raw = p.quote.truncated(r.raw, p.most)
		}
		if b = p.quote.append(b[:start], r.raw); len(b) == start {
			b = append(b, '-')
		}
	}
	if p.most == 0 && p.least == 0 {
		return b
	}
	return p.fit(b, start)
}

// fit truncates or pads the value that begins at start.
func (p *part) fit(b []byte, start int) []byte {
	if p.most > 0 && !p.isNumber && len(b)-start > p.most {
		b = b[:start+p.most]
	}
	n := len(b) - start
	if n >= p.least {
		return b
	}
	fill := byte(' ')
	if p.zero && p.isNumber {
		fill = '0'
	}
	for range p.least - n {
		b = append(b, fill)
	}
	if padding := len(b) - start - n; padding > 0 && !p.left {
		copy(b[start+padding:], b[start:start+n])
		for i := range padding {
			b[start+i] = fill
		}
	}
	return b
}

// Limits of templates.
const (
	maxTemplate = 4096 // in bytes
	maxWidth    = 1024
)

// template is the state of the compiler.
type template struct {
	text    string
	at      int // offset of the next token in text
	parts   []part
	literal []byte // text before the next token
	context byte   // Squid only: the open quotation mark or bracket, 0 for none
}

// compile compiles a template without its prefix in the syntax of a family.
func compile(prefix, text string, family func(t *template) syntax) (Format, error) {
	t := &template{text: text}
	s := family(t)
	if len(text) > maxTemplate || strings.TrimSpace(text) == "" {
		return Format{}, fmt.Errorf("the template has %d bytes; it must have 1 to %d", len(text), maxTemplate)
	}
	for t.at < len(t.text) {
		before := t.at
		step := s.literal
		if t.text[t.at] == '%' {
			t.at++
			step = s.token
		}
		if err := step(); err != nil {
			return Format{}, fmt.Errorf("%w, at offset %d of %q", err, len(prefix)+before, prefix+text)
		}
	}
	t.add(part{})
	return Format{t.parts}, nil
}

// syntax reads a family of templates at t.at: a byte of text, or a token after its percent sign.
type syntax struct{ literal, token func() error }

// add appends a part with the text before it.
func (t *template) add(p part) {
	p.literal = string(t.literal)
	t.literal = t.literal[:0]
	t.parts = append(t.parts, p)
}

// addByte appends a byte of text.
func (t *template) addByte(c byte) error {
	if isControl(c) && c != '\t' {
		return fmt.Errorf("the control character %q is not allowed: each entry is one line", c)
	}
	t.literal = append(t.literal, c)
	return nil
}

// skip skips the next byte if it is c, and reports whether it did.
func (t *template) skip(c byte) bool {
	if t.at < len(t.text) && t.text[t.at] == c {
		t.at++
		return true
	}
	return false
}

// number reads a number; ok is false if there is none.
func (t *template) number() (int, bool, error) {
	start := t.at
	for t.at < len(t.text) && t.text[t.at] >= '0' && t.text[t.at] <= '9' {
		t.at++
	}
	if t.at == start {
		return 0, false, nil
	}
	n, err := strconv.Atoi(t.text[start:t.at])
	if err != nil || n > maxWidth {
		return 0, false, fmt.Errorf("%s is more than %d", t.text[start:t.at], maxWidth)
	}
	return n, true, nil
}

// argument reads "{...}"; ok is false if there is none.
func (t *template) argument() (string, bool, error) {
	if !t.skip('{') {
		return "", false, nil
	}
	text, _, closed := strings.Cut(t.text[t.at:], "}")
	if !closed {
		return "", false, fmt.Errorf("a brace is not closed")
	}
	t.at += len(text) + 1
	return text, true, nil
}

// unknown returns the error for an unsupported token. instead contains replacements for some tokens.
func unknown(token string, known map[string]part, instead map[string]string) error {
	nearest := instead[token]
	if nearest == "" {
		names := slices.Sorted(maps.Keys(known))
		nearest = slices.MinFunc(names, func(a, b string) int {
			return cmp.Compare(distance(token, a), distance(token, b))
		})
		if distance(token, nearest) > len(token) { // too different to be related
			return fmt.Errorf("urnd does not support %%%s: delete it", token)
		}
	}
	return fmt.Errorf("urnd does not support %%%s: write %%%s, the nearest token, or delete it", token, nearest)
}

// distance returns the edit distance of two tokens, in which the case of letters counts less.
func distance(a, b string) int {
	return 2*levenshtein.ComputeDistance(strings.ToLower(a), strings.ToLower(b)) + levenshtein.ComputeDistance(a, b)
}
