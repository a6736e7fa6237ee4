package resolver

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// longestRespelled limits the text that is respelled, in bytes: text typed by a person is shorter.
const longestRespelled = 512

// spellings returns candidates for a text that is no URI, best first: with look-alike characters replaced by
// ASCII, without the punctuation of a sentence, with colons for other separators, and without spaces. Most
// candidates are not URIs either.
func spellings(text string) []string {
	if len(text) > longestRespelled {
		return nil
	}
	plain := strings.TrimRight(strings.Trim(strings.TrimSpace(strings.Map(plainCharacter, text)), `"'`), ".,;:!?")
	all := []string{plain}
	if rest, ok := cutURN(plain); ok {
		all = append(all, "urn:"+rest)
		if separator := strings.IndexAny(rest, " ./_-"); separator > 0 {
			all = append(all, "urn:"+strings.ReplaceAll(rest, rest[separator:separator+1], ":"))
		}
	}
	all = append(all, respelledURLs(plain)...)
	if words := strings.Fields(plain); len(words) > 1 {
		all = append(all, strings.Join(words, ""), words[0]+":"+strings.Join(words[1:], ""))
	}
	return slices.DeleteFunc(all, func(one string) bool { return one == "" || one == text })
}

// plainCharacter returns the ASCII character for one that a keyboard or a program has substituted: a full-width
// character, a dash, or a quotation mark. It returns -1 for invisible characters, as strings.Map expects.
func plainCharacter(c rune) rune {
	const firstWide, lastWide, toASCII = '\uFF01', '\uFF5E', '\uFF01' - '!'
	switch {
	case c >= firstWide && c <= lastWide:
		return c - toASCII
	case c == '\u3000', c == '\u00A0':
		return ' '
	case c >= '\u2010' && c <= '\u2015', c == '\u2212':
		return '-'
	case strings.ContainsRune("“”„‟«»「」『』", c):
		return '"'
	case strings.ContainsRune("‘’‚‛‹›", c):
		return '\''
	case c == '\u200B', c == '\u2060', c == '\uFEFF', c == '\u00AD': // invisible characters
		return -1
	default:
		return c
	}
}

// cutURN returns the text after "urn" and any separators.
func cutURN(text string) (rest string, ok bool) {
	const urn = "urn"
	if len(text) <= len(urn) || !uri.EqualFold(text[:len(urn)], urn) {
		return "", false
	}
	rest = strings.TrimLeft(text[len(urn):], " :.;,/_-")
	return rest, rest != "" && len(rest) < len(text)-len(urn)
}

// respelledURLs returns web URLs for texts that lack a part of the prefix of the host, such as
// "https:example.org" or "www.example.org".
func respelledURLs(text string) []string {
	const most = len("https://")
	lower := strings.ToLower(text[:min(len(text), most)])
	for _, scheme := range [...]string{"https", "http"} {
		rest, ok := strings.CutPrefix(lower, scheme)
		if !ok || rest == "" || strings.IndexByte(":/;", rest[0]) < 0 {
			continue
		}
		return []string{scheme + "://" + strings.TrimLeft(text[len(scheme):], ":;/")}
	}
	if strings.HasPrefix(lower, "www.") {
		return []string{"https://" + text}
	}
	return nil
}
