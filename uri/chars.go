package uri

import "strings"

// class is a set of the productions of RFC 3986 appendix A that allow a byte. "%" is in none of them:
// percent-encodings are checked as triples.
type class uint16

const (
	classAlpha class = 1 << iota
	classDigit
	classHex
	classScheme     // ALPHA / DIGIT / "+" / "-" / "."
	classUnreserved // section 2.3
	classReg        // unreserved / sub-delims
	classPath       // pchar / "/"
	classQuery      // pchar / "/" / "?"
	classNID        // ALPHA / DIGIT / "-", RFC 2141 section 2.1
)

const (
	alphas    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits    = "0123456789"
	hexDigits = "0123456789abcdefABCDEF"
	subDelims = "!$&'()*+,;="
	upperHex  = "0123456789ABCDEF"
)

var classes = classTable()

func classTable() (t [256]class) {
	mark := func(c class, sets ...string) {
		for _, set := range sets {
			for i := range len(set) {
				t[set[i]] |= c
			}
		}
	}
	mark(classAlpha, alphas)
	mark(classDigit, digits)
	mark(classHex, hexDigits)
	mark(classScheme, alphas, digits, "+-.")
	mark(classNID, alphas, digits, "-")
	mark(classUnreserved, alphas, digits, "-._~")
	mark(classReg, alphas, digits, "-._~", subDelims)
	mark(classPath, alphas, digits, "-._~", subDelims, ":@/")
	mark(classQuery, alphas, digits, "-._~", subDelims, ":@/?")
	return t
}

func is(b byte, c class) bool { return classes[b]&c != 0 }

// Lower returns an ASCII letter in lower case, and any other byte unchanged.
func Lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// Upper returns an ASCII letter in upper case, and any other byte unchanged.
func Upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - ('a' - 'A')
	}
	return b
}

// Escape percent-encodes all bytes except unreserved ones and those in plain: RFC 3986 section 2.3.
func Escape(text, plain string) string {
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		if c := text[i]; is(c, classUnreserved) || strings.IndexByte(plain, c) >= 0 {
			out = append(out, c)
		} else {
			out = append(out, '%', upperHex[c>>4], upperHex[c&0xf])
		}
	}
	return string(out)
}

// unhex returns the value of a hexadecimal digit, which must be valid.
func unhex(b byte) byte {
	switch {
	case b <= '9':
		return b - '0'
	case b <= 'F':
		return b - 'A' + 10
	default:
		return b - 'a' + 10
	}
}

// EqualFold reports whether two strings are equal, ignoring the case of ASCII letters. strings.EqualFold would
// also fold U+212A into "k", which no rule of URIs allows.
func EqualFold(s, t string) bool {
	if len(s) != len(t) {
		return false
	}
	for i := range len(s) {
		if Lower(s[i]) != Lower(t[i]) {
			return false
		}
	}
	return true
}
