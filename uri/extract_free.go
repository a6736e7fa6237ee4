package uri

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// free reads the URI that begins at start, and returns where to go on.
func free(text string, start int, o ExtractOptions) (Found, int, bool) {
	i := start
	for i < len(text) && is(text[i], classScheme) {
		i++
	}
	if i == len(text) || text[i] != ':' || !startsURI(text, start, i) {
		if o.Abbreviated {
			return abbreviated(text, start)
		}
		return Found{}, max(i, start+1), false
	}
	u, read, ok := longestURI(text[start:])
	if !ok {
		return Found{}, max(start+read, i+1), false
	}
	return Found{URI: u, Start: start, End: start + read}, start + read, true
}

// startsURI reports whether the word before the colon at i is a scheme in all
// likelihood, and not a word of prose before a colon.
func startsURI(text string, start, i int) bool {
	if i == start || !is(text[start], classAlpha) || i+1 == len(text) || !is(text[i+1], classQuery) && text[i+1] != '%' {
		return false
	}
	return lookupScheme(text[start:i]) != unknownScheme || strings.HasPrefix(text[i:], "://")
}

// runEnd returns the end of the octets from i on that can stand in a URI.
func runEnd(text string, i int) int {
	for i < len(text) && (is(text[i], classQuery) || strings.IndexByte("%#[]", text[i]) >= 0) {
		i++
	}
	return i
}

// longestURI returns the URI at the start of text, without the punctuation that
// belongs to the prose around it, and how many octets it took, or looked at: never
// many more than belong to it, or a text of nothing but beginnings would take the
// square of its length. What ends it is a delimiter of prose; a URI that is broken
// by anything else is none, and its beginning would be another.
func longestURI(text string) (u URI, read int, ok bool) {
	run := text[:min(len(text), maxExtracted)]
	_, err := Parse(run)
	if err == nil {
		u, ok = trimmed(run)
		return u, trimmedLength(u, run, ok), ok
	}
	fault, isFault := err.(*ParseError) //nolint:errorlint // Parse gives nothing else
	if !isFault || fault.Offset >= len(run) {
		return URI{}, len(run), false
	}
	r, _ := utf8.DecodeRuneInString(run[fault.Offset:])
	switch {
	case isWord(r) && r >= utf8.RuneSelf:
		return longestIRI(run, fault.Offset)
	case r >= utf8.RuneSelf, strings.ContainsRune(proseDelimiters, r), isEscape(run, fault.Offset), run[max(fault.Offset, 1)-1] == ']':
		run = run[:fault.Offset]
		u, ok = trimmed(run)
		return u, trimmedLength(u, run, ok), ok
	default:
		return URI{}, fault.Offset, false
	}
}

// isEscape reports whether a backslash stands at i, behind a path: texts of programs
// have line breaks as "\n". Behind a host it is a trick.
func isEscape(run string, i int) bool { return run[i] == '\\' && strings.Count(run[:i], "/") > 2 }

// proseDelimiters end a URI in a text: white space, quotes and closing brackets.
const proseDelimiters = whiteSpace + "\"<>{}]|`"

func trimmedLength(u URI, run string, ok bool) int {
	if !ok {
		return len(run)
	}
	return len(u.s)
}

// trimmed returns the URI that run is without the punctuation at its end, or with
// it where it is none without.
func trimmed(run string) (URI, bool) {
	for _, text := range []string{withoutPunctuation(run), run} {
		if u, err := Parse(text); err == nil && u.Check() == nil {
			return u, true
		}
	}
	return URI{}, false
}

// longestIRI reads an IRI, whose first character beyond ASCII is at offset at.
func longestIRI(run string, at int) (URI, int, bool) {
	end := at
	for end < len(run) {
		r, size := utf8.DecodeRuneInString(run[end:])
		if r >= utf8.RuneSelf && !isWord(r) || r < utf8.RuneSelf && !is(run[end], classQuery) && r != '%' && r != '#' {
			break
		}
		end += size
	}
	run = withoutPunctuation(run[:end])
	u, err := FromIRI(run)
	if err != nil || u.Check() != nil {
		return URI{}, end, false
	}
	return u, len(run), true
}

// withoutPunctuation takes the end of a sentence from a URI, and closing
// parentheses that were not opened in it.
func withoutPunctuation(s string) string {
	open := strings.Count(s, "(") - strings.Count(s, ")")
	for s != "" {
		last := s[len(s)-1]
		if strings.IndexByte(".,;:!?'*_#", last) < 0 && (last != ')' || open >= 0) {
			break
		}
		if last == ')' {
			open++
		}
		s = s[:len(s)-1]
	}
	return s
}

// isWord reports whether r is a part of a word, and so of an IRI.
func isWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }
