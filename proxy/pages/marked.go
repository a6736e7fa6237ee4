package pages

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/internal/api"
)

// marked is an input around the offending character: At is empty where that is its end.
type marked struct{ Before, At, After string }

// markedOf returns the input of a problem around its offset: as a person has typed it, where that is the same.
func markedOf(p *api.Problem) marked {
	if at, ok := typedAt(p.Typed, p.Input, *p.Offset); ok {
		return around(p.Typed, at)
	}
	return around(p.Input, *p.Offset)
}

// typedAt returns the offset in a typed text of an octet of the URI that it became: what a URI cannot have is percent-encoded in it. It returns
// false where the URI is of another text.
func typedAt(typed, input string, offset int) (at int, ok bool) {
	i, j := 0, 0
	for ; j < len(input) && i < len(typed); i++ {
		if j <= offset {
			at = i
		}
		if typed[i] == input[j] {
			j++
			continue
		}
		if c, isTriplet := tripletAt(input, j); !isTriplet || c != typed[i] {
			return 0, false
		}
		j += len("%00")
	}
	if offset >= len(input) {
		at = len(typed)
	}
	for at > 0 && at < len(typed) && !utf8.RuneStart(typed[at]) {
		at--
	}
	return at, i == len(typed) && j == len(input) && typed != ""
}

// tripletAt returns the octet that is percent-encoded at an offset, and false where none is.
func tripletAt(s string, i int) (byte, bool) {
	if i+3 > len(s) || s[i] != '%' {
		return 0, false
	}
	var octet [1]byte
	_, err := hex.Decode(octet[:], []byte(s[i+1:i+3]))
	return octet[0], err == nil
}

// characterAt returns how many octets the character at an offset has, 0 at the end: one that is percent-encoded has those of all of its triplets.
func characterAt(s string, i int) int {
	var octets []byte
	for len(octets) < utf8.UTFMax {
		c, ok := tripletAt(s, i+3*len(octets))
		if !ok || len(octets) > 0 && utf8.RuneStart(c) {
			break
		}
		octets = append(octets, c)
	}
	if len(octets) > 0 {
		_, size := utf8.DecodeRune(octets)
		return 3 * size
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return size
}

// around returns the character at an offset of an input, and up to 60 octets before and after
// it, as valid UTF-8.
func around(input string, offset int) marked {
	const context = 60
	offset = min(max(offset, 0), len(input))
	end := offset + characterAt(input, offset)
	m := marked{input[max(0, offset-context):offset], input[offset:end], input[end:min(len(input), end+context)]}
	if offset > context {
		m.Before = "…" + m.Before
	}
	if end+context < len(input) {
		m.After += "…"
	}
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	return marked{valid(m.Before), valid(m.At), valid(m.After)}
}
