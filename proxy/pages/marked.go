package pages

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/internal/api"
)

// marked is an input split at the invalid character: At is empty if the error is at the end.
type marked struct{ Before, At, After string }

// markedOf returns the input of a problem split at its offset: the input as typed, if the offset can be
// mapped to it.
func markedOf(p *api.Problem) marked {
	if at, ok := typedAt(p.Typed, p.Input, *p.Offset); ok {
		return around(p.Typed, at)
	}
	return around(p.Input, *p.Offset)
}

// typedAt returns the offset in a typed text for a byte offset in the URI made from it, in which characters
// are percent-encoded. It returns false if the URI was not made from the text.
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

// tripletAt returns the percent-encoded byte at an offset, and false if there is none.
func tripletAt(s string, i int) (byte, bool) {
	if i+3 > len(s) || s[i] != '%' {
		return 0, false
	}
	var byteValue [1]byte
	_, err := hex.Decode(byteValue[:], []byte(s[i+1:i+3]))
	return byteValue[0], err == nil
}

// characterAt returns the length in bytes of the character at an offset, 0 at the end. A percent-encoded
// character includes all its triplets.
func characterAt(s string, i int) int {
	var data []byte
	for len(data) < utf8.UTFMax {
		c, ok := tripletAt(s, i+3*len(data))
		if !ok || len(data) > 0 && utf8.RuneStart(c) {
			break
		}
		data = append(data, c)
	}
	if len(data) > 0 {
		_, size := utf8.DecodeRune(data)
		return 3 * size
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return size
}

// around returns the character at an offset of an input, and up to 60 bytes before and after it, as valid
// UTF-8.
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
