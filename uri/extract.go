package uri

import (
	"strings"
	"unicode/utf8"
)

// Found is a URI found in running text.
type Found struct {
	URI        URI
	Start, End int // byte offsets of the URI in the text, without delimiters
	// Hyphen means that a line was broken after a hyphen. It is unknown whether the hyphen, which is in URI,
	// belongs to it.
	Hyphen bool
}

// ExtractOptions selects what else counts as a URI.
type ExtractOptions struct {
	// Abbreviated also finds host names, with or without a path, by the heuristics of
	// draft-fielding-uri-syntax-02 appendix F: "ftp.a.org" is ftp, all others are http.
	Abbreviated bool
}

// maxExtracted limits the length of an extracted URI, in bytes.
const maxExtracted = 8192

// Extract returns the absolute URIs in a text, in order, following appendix E of draft-fielding-uri-syntax-02
// and the appendix of RFC 1738: those between angle brackets, in which white space is ignored, and those
// without delimiters or between other ones. All of them pass Check. It takes linear time.
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
		if !is(text[i], classAlpha|classDigit) || continues(text, i) {
			i++
			continue
		}
		f, end, ok := bare(text, i, o)
		if ok {
			found = append(found, f)
		}
		i = end
	}
	return found
}

// continues reports whether i is in the middle of a word. After a non-ASCII letter or an underscore, a URI may
// start only if "://" follows its scheme.
func continues(text string, i int) bool {
	if i == 0 {
		return false
	}
	b := text[i-1]
	if b < utf8.RuneSelf && b != '_' {
		return is(b, classScheme) || b == '@'
	}
	r, _ := utf8.DecodeLastRuneInString(text[max(0, i-utf8.UTFMax):i])
	if b != '_' && !isWord(r) {
		return false
	}
	end := i
	for end < len(text) && is(text[end], classScheme) {
		end++
	}
	return !strings.HasPrefix(text[end:], "://")
}

// wrapped parses the URI between angle brackets that starts at start. White space in it is ignored, and so is
// the prefix "URL:".
func wrapped(text string, start int) (Found, int, bool) {
	length := strings.IndexAny(text[start:min(len(text), start+maxExtracted)], "<>")
	if length < 0 || text[start+length] != '>' {
		return Found{}, 0, false
	}
	inner := text[start : start+length]
	f := Found{Start: start, End: start + length}
	f.trim(&inner)
	prefixed := len(inner) > 4 && EqualFold(inner[:4], "url:")
	if prefixed {
		inner = inner[4:]
		f.Start += 4
		f.trim(&inner)
	}
	// A scheme is not broken across lines: "<b and http://a/>" is not a URI.
	colon := strings.IndexByte(inner, ':')
	if colon < 0 || strings.ContainsAny(inner[:colon], whiteSpace) || !prefixed && !startsURI(inner, 0, colon) {
		return Found{}, 0, false
	}
	if len(strings.FieldsFunc(inner[colon:], isWhiteSpace)) > 1 && strings.Contains(inner[colon+1:], "://") {
		return Found{}, 0, false // "<http://a/ and http://b/>" has two URIs
	}
	f.Hyphen = brokenAfterHyphen(inner)
	u, err := Parse(strings.Map(dropSpace, inner))
	if err != nil || u.Check() != nil {
		return Found{}, 0, false
	}
	f.URI = u
	return f, start + length + 1, true
}

// trim removes white space from both ends of s, the text of f, and adjusts the offsets of f.
func (f *Found) trim(s *string) {
	left := strings.TrimLeft(*s, whiteSpace)
	f.Start += len(*s) - len(left)
	*s = strings.TrimRight(left, whiteSpace)
	f.End = f.Start + len(*s)
}

const whiteSpace = " \t\r\n\f\v"

func isWhiteSpace(r rune) bool { return strings.ContainsRune(whiteSpace, r) }

func dropSpace(r rune) rune {
	if isWhiteSpace(r) {
		return -1
	}
	return r
}

// brokenAfterHyphen reports whether a line of s ends in a hyphen.
func brokenAfterHyphen(s string) bool {
	for line := range strings.Lines(s) {
		if trimmed := strings.TrimRight(line, whiteSpace); strings.HasSuffix(line, "\n") &&
			strings.HasSuffix(trimmed, "-") {
			return true
		}
	}
	return false
}

// abbreviated parses a host name that starts at start, with or without port and path: at least two labels, the
// last of letters.
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
	if len(host) > 4 && EqualFold(host[:4], "ftp.") {
		prefix = "ftp://"
	}
	u, ok := trimmed(prefix + run)
	if !ok || end < len(text) && text[end] >= utf8.RuneSelf {
		return Found{}, end, false
	}
	return Found{URI: u, Start: start, End: start + len(u.s) - len(prefix)}, end, true
}
