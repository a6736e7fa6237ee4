// Package redact removes passwords from the URLs (RFC 3986 section 3.2.1) in texts before they are logged or
// shown. A text enters and leaves with each password replaced by "xxxxx", also in percent-encoded, nested and
// malformed URLs; Attr does the same for attributes of slog.
package redact

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/urnd/urnd/uri"
)

// hidden replaces a password, as in net/url's URL.Redacted.
const hidden = "xxxxx"

// Delimiters of URLs, plain or percent-encoded any number of times, as in a parameter.
var (
	// opening matches up to where the userinfo of a URL may begin: after slashes, after the scheme of a URL
	// with an authority whose slashes were omitted, and in the parameter into which users type a URL.
	opening = regexp.MustCompile(`(?i)(?::|%(?:25)*3a)(?:[/\\]|%(?:25)*(?:2f|5c))|(?:[/\\]|%(?:25)*(?:2f|5c)){2}` +
		`|(?:^|[\s"'<(/?#=&]|%(?:25)*(?:20|22|2f|3c|3d|3f|26))(?:` + schemes() + `)(?::|%(?:25)*3a)` +
		`|([?&]uri=)(?:\+|<|%(?:25)*(?:20|3c))*`)
	more  = regexp.MustCompile(`(?i)^(?:[/\\]|%(?:25)*(?:2f|5c))+`)
	colon = regexp.MustCompile(`(?i):|%(?:25)*3a`)
	at    = regexp.MustCompile(`@|%(?:25)*40`)
	end   = regexp.MustCompile(`(?i)[/?# \t\r\n"<>]|%(?:25)*(?:2f|3f|23|20|22|3c|3e)`)
	// named matches the beginning of a URI without authority, in which an at sign does not follow a password.
	named = regexp.MustCompile(`(?i)^(?:urn|mailto|news|mid|cid|acct|tag|xmpp|im|pres|data)(?::|%(?:25)*3a)`)
)

// schemes returns a regular expression for the schemes of URLs with an authority, including some that urnd does
// not support, and of files, whose slashes users omit.
func schemes() string {
	return strings.ReplaceAll(strings.Join(append(uri.ServerSchemes(), "sftp", "file"), "|"), ".", `\.`)
}

// URLs returns text with the passwords of all URLs replaced. In a malformed URL it removes too much rather than
// too little.
func URLs(text string) string {
	redacted, _ := URLsAt(text, 0)
	return redacted
}

// URLsAt is like URLs for a text with an offset into it. It also returns the offset of the same byte in the
// result, or that of the replacement for a byte in a password.
func URLsAt(text string, offset int) (redacted string, moved int) {
	spans := passwords(text)
	if spans == nil {
		return text, offset
	}
	var b strings.Builder
	done, moved := 0, offset
	for _, s := range spans {
		switch {
		case offset >= s.end:
			moved += len(hidden) - (s.end - s.start)
		case offset > s.start:
			moved -= offset - s.start
		}
		b.WriteString(text[done:s.start])
		b.WriteString(hidden)
		done = s.end
	}
	b.WriteString(text[done:])
	return b.String(), moved
}

// span is a part of a text.
type span struct{ start, end int }

// passwords returns the positions of the passwords in text, in order.
func passwords(text string) []span {
	if !hasAt(text) {
		return nil
	}
	var spans []span
	for start := 0; ; {
		mark := opening.FindStringSubmatchIndex(text[start:])
		if mark == nil {
			return spans
		}
		typed := mark[2] >= 0
		start += mark[1]
		start += len(more.FindString(text[start:]))
		if i := named.FindStringIndex(text[start:]); typed && i != nil {
			start += i[1]
			continue
		}
		next := len(text)
		// A URL in or after another one.
		if mark := opening.FindStringIndex(text[start:]); mark != nil && !isUserinfoStart(text[start:start+mark[0]]) {
			next = start + mark[0]
		}
		rest := text[start:next]
		if typed { // without a scheme, only user:password@ is recognized
			rest = authorityOf(rest)
		}
		s, ok := passwordIn(rest)
		if ok {
			spans = append(spans, span{start + s.start, start + s.end})
		}
		if ok || !typed { // otherwise the input may contain a URL after other words
			start = next
		}
	}
}

// hasAt reports whether at matches. It is faster, because each request calls it for some texts, few of which
// match.
func hasAt(text string) bool {
	if strings.IndexByte(text, '@') >= 0 {
		return true
	}
	for {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			return false
		}
		for text = text[i+1:]; strings.HasPrefix(text, "25"); text = text[2:] { // an encoded percent sign
		}
		if strings.HasPrefix(text, "40") {
			return true
		}
	}
}

// isUserinfoStart reports whether the text before slashes can be a user name and the beginning of a password
// that contains the slashes.
func isUserinfoStart(text string) bool {
	text = authorityOf(text)
	begin := colon.FindStringIndex(text)
	return begin != nil && !at.MatchString(text) && text[0] != '[' && strings.Trim(text[begin[1]:], "0123456789") != ""
}

// authorityOf returns the authority at the beginning of the text after the slashes of a URL.
func authorityOf(rest string) string {
	if i := end.FindStringIndex(rest); i != nil {
		return rest[:i[0]]
	}
	return rest
}

// passwordIn returns the position of the password in the text after the slashes of a URL.
func passwordIn(rest string) (span, bool) {
	authority := authorityOf(rest)
	begin := colon.FindStringIndex(authority)
	if begin == nil {
		return span{}, false
	}
	if ats := at.FindAllStringIndex(authority, -1); len(ats) > 0 {
		last := ats[len(ats)-1][0]
		return span{begin[1], last}, begin[1] <= last
	}
	// A password with a slash is invalid in a URL, but occurs in input.
	ats := at.FindAllStringIndex(rest, -1)
	if len(ats) == 0 || authority[0] == '[' || strings.Trim(authority[begin[1]:], "0123456789") == "" {
		return span{}, false
	}
	return span{begin[1], ats[len(ats)-1][0]}, true
}

// Attr is a function for slog.HandlerOptions.ReplaceAttr that redacts all strings, errors and Stringers.
func Attr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(URLs(a.Value.String()))
	case slog.KindAny:
		switch v := a.Value.Any().(type) {
		case error:
			a.Value = slog.StringValue(URLs(v.Error()))
		case fmt.Stringer:
			a.Value = slog.StringValue(URLs(v.String()))
		}
	}
	return a
}
