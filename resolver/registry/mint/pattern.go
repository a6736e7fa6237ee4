package mint

import (
	"crypto/rand"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// pattern is a parsed pattern of minted names: a literal, a counted or random part, another literal, and a
// check character for all characters before it.
type pattern struct {
	text          string
	before, after string
	mask          string // the alphabet of each character: 'd' for decimal digits, 'e' for betanumeric characters
	random        bool   // random, not counted
	grows         bool   // the counted part gets longer if the number needs more characters
	first         uint64 // first number of the counter
	check         checkKind
	digit         registry.CheckDigit // if check is ofNamespace
}

type checkKind uint8

const (
	unchecked checkKind = iota
	ofNOID
	ofNBN
	ofNamespace
)

const (
	maxPattern = 1 << 10 // bytes
	maxMask    = 64      // characters
)

// invalidPattern returns an error about a pattern, with a code for the reason.
func invalidPattern(code, text, format string, args ...any) *registry.Error {
	return registry.Invalid(code, "pattern", "pattern %q: %s", text, fmt.Sprintf(format, args...)).With("Pattern", text)
}

// parsePattern parses a pattern. It is a URI with exactly one of {counter}, {counter:DIGITS} and
// {random:CHARACTERS}, and optionally {check} or {nbn} at its end; or "noid:" and a template of NOID. checks
// are the check digits of namespaces, by the prefix of their names.
func parsePattern(text string, checks map[string]registry.CheckDigit) (pattern, error) {
	if len(text) > maxPattern {
		return pattern{}, registry.Invalid("text_long", "pattern", "pattern longer than %d bytes",
			maxPattern).With("Most", strconv.Itoa(maxPattern))
	}
	if template, ok := strings.CutPrefix(text, "noid:"); ok {
		return parseNOID(text, template)
	}
	for prefix, digit := range checks {
		if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
			return parseNumber(text, len(prefix), digit)
		}
	}
	p := pattern{text: text}
	var err error
	var found bool
	rest := text
	for rest != "" {
		literal, field, end := cutField(rest)
		if strings.ContainsAny(literal, "{}") || end < 0 {
			return pattern{}, invalidPattern("mint_brace", text, "unbalanced brace")
		}
		switch {
		case p.check != unchecked:
			return pattern{}, invalidPattern("mint_check", text, "the check character must be last")
		case found:
			p.after += literal
		default:
			p.before += literal
		}
		if rest = rest[end:]; field == "" {
			break
		}
		if found, err = p.field(field, found); err != nil {
			return pattern{}, err
		}
	}
	if !found {
		return pattern{}, invalidPattern("mint_counter", text,
			"{counter} or {random:CHARACTERS} missing, such as urn:nbn:fi:lib-{counter}")
	}
	return p, nil
}

// cutField returns the literal at the beginning of a text, the field in the braces after it ("" without
// braces), and the offset after both. end is -1 if the brace is not closed or empty.
func cutField(text string) (literal, field string, end int) {
	open := strings.IndexByte(text, '{')
	if open < 0 {
		return text, "", len(text)
	}
	n := strings.IndexByte(text[open:], '}')
	if n < 2 {
		return text[:open], "", -1
	}
	return text[:open], text[open+1 : open+n], open + n + 1
}

// field adds a field to a pattern. found and the result report whether the pattern has a counted or random
// part.
func (p *pattern) field(field string, found bool) (bool, error) {
	kind, size, sized := strings.Cut(field, ":")
	n := 1
	if sized {
		var err error
		if n, err = strconv.Atoi(size); err != nil || n < 1 || n > maxMask || size[0] == '+' {
			return found, invalidPattern("mint_length", p.text, "%q is not a number of characters from 1 to %d", size,
				maxMask).With("Pattern", p.text, "Value", size, "Most", strconv.Itoa(maxMask))
		}
	}
	switch kind {
	case "counter", "random":
		if found {
			return found, invalidPattern("mint_counter", p.text, "more than one {counter} or {random}")
		}
		if p.random = kind == "random"; p.random {
			if !sized {
				return found, invalidPattern("mint_counter", p.text,
					"{random} without a number of characters, such as {random:8}")
			}
			p.mask = strings.Repeat("e", n)
			return true, nil
		}
		p.mask, p.grows, p.first = strings.Repeat("d", n), true, 1
		return true, nil
	case "check", "nbn":
		if sized {
			return found, invalidPattern("mint_check", p.text, "{%s} is one character, and takes no number", kind)
		}
		if !found {
			return found, invalidPattern("mint_check", p.text, "{%s} must be at the end", kind)
		}
		if p.check = ofNOID; kind == "nbn" {
			p.check = ofNBN
		}
		return found, nil
	default:
		return found, invalidPattern("mint_field", p.text,
			"unknown {%s}: use {counter}, {counter:DIGITS}, {random:CHARACTERS}, {check} or {nbn}", field).
			With("Pattern", p.text, "Value", "{"+field+"}")
	}
}

// parseNOID parses a template of NOID, https://metacpan.org/dist/Noid/view/noid: a literal prefix, a dot, and
// a mask. The mask is r for random, s for sequential or z for unbounded sequential; then d for digits and e
// for extended digits; and optionally k for a check character.
func parseNOID(text, template string) (pattern, error) {
	dot := strings.LastIndexByte(template, '.')
	if dot < 0 || dot+2 >= len(template) || len(template)-dot > maxMask {
		return pattern{}, invalidPattern("mint_noid", text,
			"a template of NOID ends with a dot and a mask, such as .reedeedk")
	}
	p := pattern{text: text, before: template[:dot]}
	generator, mask := template[dot+1], template[dot+2:]
	if body, ok := strings.CutSuffix(mask, "k"); ok {
		mask, p.check = body, ofNOID
	}
	if mask == "" || strings.Trim(mask, "de") != "" || !strings.ContainsRune("rsz", rune(generator)) ||
		strings.ContainsAny(p.before, "{}") {
		return pattern{}, invalidPattern("mint_noid", text,
			"a mask of NOID is r, s or z, then d and e, then k or nothing: .reedeedk, .sddd, .zd")
	}
	p.mask, p.random, p.grows = mask, generator == 'r', generator == 'z'
	return p, nil
}

// parseNumber parses the pattern of a namespace that prescribes numbers with a check digit: the first digits,
// and {counter}, which has the remaining ones.
func parseNumber(text string, prefix int, digit registry.CheckDigit) (pattern, error) {
	literal, ok := strings.CutSuffix(text[prefix:], "{counter}")
	digits := strings.ReplaceAll(literal, "-", "")
	if !ok || strings.Trim(digits, "0123456789") != "" {
		return pattern{}, invalidPattern("mint_digits", text,
			"expected the digits of the range and {counter} after %s; the check digit is added", text[:prefix]).
			With("Pattern", text, "Prefix", text[:prefix])
	}
	n := digit.Digits - len(digits)
	if n < 1 {
		return pattern{}, invalidPattern("mint_digits", text,
			"no digits left for the counter: %s has %d before the check digit", text[:prefix], digit.Digits).
			With("Pattern", text, "Prefix", text[:prefix])
	}
	return pattern{
		text: text, before: text[:prefix] + digits, mask: strings.Repeat("d", n), check: ofNamespace,
		digit: digit,
	}, nil
}

// alphabetOf returns the alphabet of a mask character.
func alphabetOf(b byte) string {
	if b == 'd' {
		return betanumeric[:10]
	}
	return betanumeric
}

// size returns the number of different names, at most math.MaxUint64.
func (p *pattern) size() uint64 {
	if p.grows {
		return math.MaxUint64
	}
	size := uint64(1)
	for i := range len(p.mask) {
		radix := uint64(len(alphabetOf(p.mask[i])))
		if size > math.MaxUint64/radix {
			return math.MaxUint64
		}
		size *= radix
	}
	return size
}

// counted returns the name with a number, which is less than size.
func (p *pattern) counted(number uint64) (string, error) {
	var text [2 * maxMask]byte
	i := len(text)
	for at := len(p.mask) - 1; at >= 0 || number > 0; at-- {
		alphabet := alphabetOf(p.mask[max(at, 0)])
		i--
		text[i] = alphabet[number%uint64(len(alphabet))]
		number /= uint64(len(alphabet))
	}
	return p.complete(string(text[i:]))
}

// drawn returns a random name.
func (p *pattern) drawn() (string, error) {
	text := make([]byte, len(p.mask))
	for i := range text {
		alphabet := alphabetOf(p.mask[i])
		fair := 256 / len(alphabet) * len(alphabet) // reject higher bytes, to avoid a modulo bias
		b := [1]byte{255}
		for int(b[0]) >= fair {
			_, _ = rand.Read(b[:]) // never fails
		}
		text[i] = alphabet[int(b[0])%len(alphabet)]
	}
	return p.complete(string(text))
}

// complete returns the name with a text as its variable part, and its check character.
func (p *pattern) complete(varying string) (string, error) {
	name := p.before + varying + p.after
	switch p.check {
	case ofNOID:
		return name + string(noidCheck(noidZone(name))), nil
	case ofNBN:
		check, err := nbnCheck(name)
		if err != nil {
			return "", err
		}
		return name + string(check), nil
	case ofNamespace:
		return name + string(p.digit.Compute(name[len(name)-p.digit.Digits:])), nil
	default:
		return name, nil
	}
}
