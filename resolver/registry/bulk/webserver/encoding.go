package webserver

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// latin1 returns a text with one rune for each byte of another text.
func latin1(text string) string {
	if strings.IndexFunc(text, func(c rune) bool { return c >= 0x80 }) < 0 {
		return text
	}
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return string(runes)
}

// bytesOf is the inverse of latin1.
func bytesOf(runes []rune) string {
	b := make([]byte, len(runes))
	for i, c := range runes {
		b[i] = byte(c) //nolint:gosec // Latin-1; other runes never match a path
	}
	return string(b)
}

// endsDelimited reports whether a prefix of the registry may end at the end of a text: after a byte that is
// neither a letter nor a digit.
func endsDelimited(text string) bool {
	c := text[len(text)-1]
	return isRaw(c) && !isAlphanumeric(c)
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isRaw reports whether a byte may be in the path of a URI unencoded (RFC 3986 section 3.3).
func isRaw(c byte) bool { return isAlphanumeric(c) || strings.IndexByte("-._~!$&'()*+,;=:@/", c) >= 0 }

// EncodedPath percent-encodes the bytes that the path of a URI may not contain.
func EncodedPath(path string) string {
	return escape(path, isRaw)
}

// escape percent-encodes the bytes for which keep is false.
func escape(text string, keep func(byte) bool) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; keep(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// encodedExpression converts an expression over decoded paths to one over percent-encoded paths.
func encodedExpression(e *syntax.Regexp, repeated bool) string { //nolint:cyclop // one case per operator
	var b strings.Builder
	group := func(text string) string { return "(?:" + text + ")" }
	switch e.Op {
	case syntax.OpLiteral:
		text := regexp.QuoteMeta(EncodedPath(bytesOf(e.Rune)))
		if e.Flags&syntax.FoldCase != 0 {
			return "(?i:" + text + ")"
		}
		return text
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return encodedClass(e, repeated)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		operator := map[syntax.Op]string{syntax.OpStar: "*", syntax.OpPlus: "+", syntax.OpQuest: "?"}[e.Op]
		if e.Op == syntax.OpRepeat {
			operator = "{" + strconv.Itoa(e.Min) + "," + strconv.Itoa(e.Max) + "}"
			if operator = strings.ReplaceAll(operator, ",-1}", ",}"); e.Min == e.Max {
				operator = "{" + strconv.Itoa(e.Min) + "}"
			}
		}
		inner := encodedExpression(e.Sub[0], e.Op == syntax.OpStar || e.Op == syntax.OpPlus)
		if inner == "." || strings.HasPrefix(inner, "[") && strings.IndexByte(inner, ']') == len(inner)-1 {
			return inner + operator
		}
		return group(inner) + operator
	case syntax.OpAlternate:
		for i, sub := range e.Sub {
			if i > 0 {
				b.WriteByte('|')
			}
			b.WriteString(encodedExpression(sub, false))
		}
		return group(b.String())
	case syntax.OpCapture:
		return group(encodedExpression(e.Sub[0], false))
	default:
		for _, sub := range e.Sub {
			b.WriteString(encodedExpression(sub, false))
		}
		return b.String()
	}
}

// encodedClass converts a character class to an expression over percent-encoded bytes. A repeated class that
// contains every encoded byte stays a simple class.
func encodedClass(e *syntax.Regexp, repeated bool) string { //nolint:cyclop // one case per byte
	has := func(c byte) bool {
		for i := 0; i < len(e.Rune); i += 2 {
			if e.Rune[i] <= rune(c) && rune(c) <= e.Rune[i+1] {
				return true
			}
		}
		return e.Op != syntax.OpCharClass
	}
	var in, out, encoded []byte
	all := has('%')
	for i := range 256 {
		c := byte(i)
		switch {
		case isRaw(c) && has(c):
			in = append(in, c)
		case isRaw(c):
			all = all && !strings.ContainsRune("0123456789ABCDEF", rune(c))
			out = append(out, c)
		case !has(c):
			all = all && c < ' '
		}
		if has(c) && !isAlphanumeric(c) && strings.IndexByte("-._~", c) < 0 {
			encoded = append(encoded, c)
		}
	}
	switch {
	case all && repeated && len(out) == 0:
		return "."
	case all && repeated:
		return "[^" + ranges(out) + "]"
	case all:
		return "(?:[^%" + ranges(out) + "]|%[0-9A-F]{2})"
	case len(encoded) == 0:
		return "[" + ranges(in) + "]"
	}
	text := "%(?:" + hexadecimal(encoded) + ")"
	if len(in) > 0 {
		text = "[" + ranges(in) + "]|" + text
	}
	return "(?:" + text + ")"
}

// hexadecimal returns an expression for the two hexadecimal digits of bytes in ascending order.
func hexadecimal(list []byte) string {
	const digits = "0123456789ABCDEF"
	var all []string
	for high := range byte(16) {
		var low []byte
		for _, c := range list {
			if c>>4 == high {
				low = append(low, digits[c&0xf])
			}
		}
		if len(low) > 0 {
			all = append(all, string(digits[high])+"["+ranges(low)+"]")
		}
	}
	return strings.Join(all, "|")
}

// ranges returns the inside of a character class of bytes in ascending order.
func ranges(list []byte) string {
	var b strings.Builder
	for i := 0; i < len(list); i++ {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 && isAlphanumeric(list[i]) && isAlphanumeric(list[j+1]) {
			j++
		}
		if list[i] == '-' {
			b.WriteByte('\\')
		}
		b.WriteString(regexp.QuoteMeta(string(list[i])))
		if j > i+1 {
			b.WriteString("-" + string(list[j]))
			i = j
		}
	}
	return b.String()
}
