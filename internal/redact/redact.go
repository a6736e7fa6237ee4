// Package redact removes passwords from what is logged.
package redact

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/urnd/urnd/uri"
)

// hidden replaces a password, as URL.Redacted of net/url does.
const hidden = "xxxxx"

// The delimiters of URLs, plain or percent-encoded any number of times, as in a
// parameter.
var (
	// opening ends where the user of a URL may begin: after slashes, after the scheme of a URL with a
	// server whose slashes were left out, and in the parameter in which a URL is typed.
	opening = regexp.MustCompile(`(?i)(?::|%(?:25)*3a)(?:[/\\]|%(?:25)*(?:2f|5c))|(?:[/\\]|%(?:25)*(?:2f|5c)){2}` +
		`|(?:^|[\s"'<(/?#=&]|%(?:25)*(?:20|22|2f|3c|3d|3f|26))(?:` + schemes() + `)(?::|%(?:25)*3a)` +
		`|([?&]uri=)(?:\+|<|%(?:25)*(?:20|3c))*`)
	more  = regexp.MustCompile(`(?i)^(?:[/\\]|%(?:25)*(?:2f|5c))+`)
	colon = regexp.MustCompile(`(?i):|%(?:25)*3a`)
	at    = regexp.MustCompile(`@|%(?:25)*40`)
	end   = regexp.MustCompile(`(?i)[/?# \t\r\n"<>]|%(?:25)*(?:2f|3f|23|20|22|3c|3e)`)
	// named begins a URI without server, in which an at sign follows no password.
	named = regexp.MustCompile(`(?i)^(?:urn|mailto|news|mid|cid|acct|tag|xmpp|im|pres|data)(?::|%(?:25)*3a)`)
)

// schemes returns an expression for the schemes of URLs with a server, also of some that urnd does not know, and of files,
// whose slashes people leave out.
func schemes() string {
	return strings.ReplaceAll(strings.Join(append(uri.ServerSchemes(), "sftp", "file"), "|"), ".", `\.`)
}

// URLs returns text with the passwords of all URLs replaced. In a malformed URL it
// hides too much rather than too little.
func URLs(text string) string {
	redacted, _ := URLsAt(text, 0)
	return redacted
}

// URLsAt is URLs for a text that an offset points into, and returns also the offset of the same octet
// in the result: for one in a password that where it is hidden.
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

// passwords returns where the passwords in a text are, in their order.
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
		isTyped := mark[2] >= 0
		start += mark[1]
		start += len(more.FindString(text[start:]))
		if i := named.FindStringIndex(text[start:]); isTyped && i != nil {
			start += i[1]
			continue
		}
		next := len(text)
		if mark := opening.FindStringIndex(text[start:]); mark != nil && !isUserinfoStart(text[start:start+mark[0]]) { // a URL in another one, or after it
			next = start + mark[0]
		}
		rest := text[start:next]
		if isTyped { // without a scheme that says so, only what looks like user:password@ is taken for it
			rest = authorityOf(rest)
		}
		s, ok := passwordIn(rest)
		if ok {
			spans = append(spans, span{start + s.start, start + s.end})
		}
		if ok || !isTyped { // else what was typed may be a URL behind other words
			start = next
		}
	}
}

// hasAt reports whether at matches. Each request asks it for some texts, of which few do.
func hasAt(text string) bool {
	if strings.IndexByte(text, '@') >= 0 {
		return true
	}
	for {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			return false
		}
		for text = text[i+1:]; strings.HasPrefix(text, "25"); text = text[2:] { // a percent sign, encoded
		}
		if strings.HasPrefix(text, "40") {
			return true
		}
	}
}

// isUserinfoStart reports whether the text before slashes can be a user name and the
// start of a password that contains the slashes.
func isUserinfoStart(text string) bool {
	text = authorityOf(text)
	begin := colon.FindStringIndex(text)
	return begin != nil && !at.MatchString(text) && text[0] != '[' && strings.Trim(text[begin[1]:], "0123456789") != ""
}

// authorityOf returns the authority that the text after the slashes of a URL begins with.
func authorityOf(rest string) string {
	if i := end.FindStringIndex(rest); i != nil {
		return rest[:i[0]]
	}
	return rest
}

// passwordIn returns where the password in the text after the slashes of a URL is.
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
	// A password with a slash is invalid in a URL, but people type it.
	ats := at.FindAllStringIndex(rest, -1)
	if len(ats) == 0 || authority[0] == '[' || strings.Trim(authority[begin[1]:], "0123456789") == "" {
		return span{}, false
	}
	return span{begin[1], ats[len(ats)-1][0]}, true
}

// Attr is a ReplaceAttr of slog.HandlerOptions that redacts all strings, errors and Stringers.
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
