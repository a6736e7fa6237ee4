package uri

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// bare parses the URI without brackets that starts at start. It also returns the offset at which to continue.
func bare(text string, start int, o ExtractOptions) (Found, int, bool) {
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

// startsURI reports whether the word before the colon at i is probably a scheme, rather than a word of prose.
func startsURI(text string, start, i int) bool {
	if i == start || !is(text[start], classAlpha) || i+1 == len(text) ||
		!is(text[i+1], classQuery) && text[i+1] != '%' {
		return false
	}
	return lookupScheme(text[start:i]) != unknownScheme || strings.HasPrefix(text[i:], "://")
}

// runEnd returns the end of the run of bytes from i on that can occur in a URI.
func runEnd(text string, i int) int {
	for i < len(text) && (is(text[i], classQuery) || strings.IndexByte("%#[]", text[i]) >= 0) {
		i++
	}
	return i
}

// longestURI returns the URI at the start of text, without the punctuation of the surrounding prose, and how
// many bytes it read. It reads little more than the URI: otherwise a text full of possible starts would take
// quadratic time. Only a delimiter of prose ends a URI: before any other invalid byte the text is rejected,
// since its valid prefix would be a different URI.
func longestURI(text string) (u URI, read int, ok bool) {
	run := text[:min(len(text), maxExtracted)]
	_, err := Parse(run)
	if err == nil {
		u, ok = trimmed(run)
		return u, trimmedLength(u, run, ok), ok
	}
	failure, isFailure := err.(*ParseError) //nolint:errorlint // Parse returns no other type
	if !isFailure || failure.Offset >= len(run) {
		return URI{}, len(run), false
	}
	r, _ := utf8.DecodeRuneInString(run[failure.Offset:])
	switch {
	case isWord(r) && r >= utf8.RuneSelf:
		return longestIRI(run, failure.Offset)
	case r >= utf8.RuneSelf, strings.ContainsRune(proseDelimiters, r), isEscape(run, failure.Offset),
		run[max(failure.Offset, 1)-1] == ']',
		// A URN ends at the first excluded character: RFC 2141 section 2.4.
		EqualFold(run[:min(len(run), len(urnPrefix))], urnPrefix) && r != '%' && r != '#',
		isFootnote(run[failure.Offset:]), endsSentence(run[failure.Offset:]):
		run = run[:failure.Offset]
		u, ok = trimmed(run)
		return u, trimmedLength(u, run, ok), ok
	default:
		return URI{}, failure.Offset, false
	}
}

// isEscape reports whether there is a backslash at i, after a path: source code has line breaks as "\n". After
// a host it may be a spoofing attempt.
func isEscape(run string, i int) bool { return run[i] == '\\' && strings.Count(run[:i], "/") > 2 }

// isFootnote reports whether s starts with the number of a footnote, such as "[1]".
func isFootnote(s string) bool {
	inner, ok := strings.CutPrefix(s, "[")
	end := strings.IndexByte(inner, ']')
	return ok && end > 0 && strings.Trim(inner[:end], digits) == ""
}

// endsSentence reports whether s starts with punctuation of prose followed by a delimiter of prose. A port is
// followed by no other punctuation.
func endsSentence(s string) bool {
	rest := strings.TrimLeft(s, ".,;:!?')")
	return rest != s && (rest == "" || strings.IndexByte(proseDelimiters, rest[0]) >= 0 || isFootnote(rest))
}

// proseDelimiters end a URI in a text: white space, quotes and closing brackets.
const proseDelimiters = whiteSpace + "\"<>{}]|`"

func trimmedLength(u URI, run string, ok bool) int {
	if !ok {
		return len(run)
	}
	return len(u.s)
}

// trimmed returns the URI of run without its final punctuation, or of the whole run if the former is not a URI.
func trimmed(run string) (URI, bool) {
	for _, text := range []string{withoutPunctuation(run), run} {
		if u, err := Parse(text); err == nil && u.Check() == nil {
			return u, true
		}
	}
	return URI{}, false
}

// longestIRI parses the IRI at the start of run, with its first non-ASCII character at offset at.
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

// withoutPunctuation removes the punctuation of a sentence from the end of a URI, and closing parentheses that
// were not opened in it.
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

// isWord reports whether r can be part of a word, and therefore of an IRI.
func isWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }
