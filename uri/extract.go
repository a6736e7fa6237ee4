package uri

import "strings"

// Found is a URI in running text.
type Found struct {
	URI        URI
	Start, End int // the octets of the text that it was read from, without delimiters
	// Hyphen says that a line was broken behind a hyphen: nobody can tell
	// whether the hyphen, which is kept, belongs to the URI.
	Hyphen bool
}

// ExtractOptions says what else counts as a URI.
type ExtractOptions struct {
	// Abbreviated finds host names too, with and without a path, by the
	// heuristics of draft-fielding-uri-syntax-02 appendix F: "ftp.a.org" is
	// ftp, all others are http.
	Abbreviated bool
}

// maxExtracted bounds a URI in a text, in octets.
const maxExtracted = 8192

// Extract returns the absolute URIs in a text, in their order, by appendix E
// of draft-fielding-uri-syntax-02 and the appendix of RFC 1738: those between
// angle brackets, where white space does not count, and those that stand free
// or between other delimiters. What it returns passes Check. It takes time in
// proportion to the text.
func Extract(text string, o ExtractOptions) []Found {
	var found []Found
	for i := 0; i < len(text); {
		if text[i] == '<' {
			if f, end, ok := wrapped(text, i+1); ok {
				found = append(found, f)
				i = end
				continue
			}
		}
		if !is(text[i], classAlpha|classDigit) || i > 0 && continues(text[i-1]) {
			i++
			continue
		}
		f, end, ok := free(text, i, o)
		if ok {
			found = append(found, f)
		}
		i = end
	}
	return found
}

// continues reports whether what follows b is the middle of a word.
func continues(b byte) bool { return is(b, classScheme) || b == '_' || b == '@' || b >= 0x80 }

// wrapped reads the URI between angle brackets that begins at start. White
// space in it is ignored, and so is the prefix "URL:".
func wrapped(text string, start int) (Found, int, bool) {
	length := strings.IndexAny(text[start:min(len(text), start+maxExtracted)], "<>")
	if length < 0 || text[start+length] != '>' {
		return Found{}, 0, false
	}
	inner := text[start : start+length]
	f := Found{Start: start, End: start + length}
	f.trim(&inner)
	prefixed := len(inner) > 4 && equalFold(inner[:4], "url:")
	if prefixed {
		inner = inner[4:]
		f.Start += 4
		f.trim(&inner)
	}
	// A scheme is not broken across lines: "<b and http://a/>" is none.
	colon := strings.IndexByte(inner, ':')
	if colon < 0 || strings.ContainsAny(inner[:colon], whiteSpace) || !prefixed && !startsURI(inner, 0, colon) {
		return Found{}, 0, false
	}
	f.Hyphen = brokenAfterHyphen(inner)
	u, err := Parse(strings.Map(dropSpace, inner))
	if err != nil || u.Check() != nil {
		return Found{}, 0, false
	}
	f.URI = u
	return f, start + length + 1, true
}

// trim takes white space from both ends of s, which is the text of f.
func (f *Found) trim(s *string) {
	left := strings.TrimLeft(*s, whiteSpace)
	f.Start += len(*s) - len(left)
	*s = strings.TrimRight(left, whiteSpace)
	f.End = f.Start + len(*s)
}

const whiteSpace = " \t\r\n\f\v"

func dropSpace(r rune) rune {
	if strings.ContainsRune(whiteSpace, r) {
		return -1
	}
	return r
}

// brokenAfterHyphen looks for a line that ends in a hyphen.
func brokenAfterHyphen(s string) bool {
	for line := range strings.Lines(s) {
		if trimmed := strings.TrimRight(line, whiteSpace); strings.HasSuffix(line, "\n") && strings.HasSuffix(trimmed, "-") {
			return true
		}
	}
	return false
}

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
	stop := start + len(u.s)
	return Found{URI: u, Start: start, End: stop}, stop, true
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

// longestURI returns the longest start of text that is a URI, without the
// punctuation that belongs to the prose around it, and how many octets it looked
// at: not many more than belong to it, or a text of nothing but beginnings would
// take the square of its length.
func longestURI(text string) (u URI, read int, ok bool) {
	run := text[:min(len(text), maxExtracted)]
	for range 4 { // an authority may be at fault once, each component after it once
		u, err := Parse(run)
		if err == nil {
			if run = withoutPunctuation(run); run != u.s {
				u, err = Parse(run)
			}
			return u, max(read, len(run)), err == nil && u.Check() == nil
		}
		fault, ok := err.(*ParseError) //nolint:errorlint // Parse gives nothing else
		if !ok || fault.Offset >= len(run) {
			break
		}
		run = run[:fault.Offset]
		read = max(read, len(run))
	}
	return URI{}, read, false
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

// abbreviated reads a host name, with and without port and path, that begins
// at start: at least two labels, the last of letters.
func abbreviated(text string, start int) (Found, int, bool) {
	end := runEnd(text[:min(len(text), start+maxExtracted)], start)
	run := withoutPunctuation(text[start:end])
	host := run
	if i := strings.IndexAny(run, "/?#:"); i >= 0 {
		host = run[:i]
	}
	dot := strings.LastIndexByte(host, '.')
	top := host[dot+1:]
	if dot <= 0 || len(top) < 2 || strings.Trim(top, alphas) != "" || checkHost(host) != nil {
		return Found{}, max(end, start+1), false
	}
	prefix := "http://"
	if len(host) > 4 && equalFold(host[:4], "ftp.") {
		prefix = "ftp://"
	}
	u, _, ok := longestURI(prefix + run)
	if !ok {
		return Found{}, end, false
	}
	return Found{URI: u, Start: start, End: start + len(u.s) - len(prefix)}, end, true
}
