// Package redact removes passwords from what is logged.
package redact

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
)

// hidden replaces a password, as URL.Redacted of net/url does.
const hidden = "xxxxx"

// The delimiters of URLs, plain or percent-encoded any number of times, as in a
// parameter.
var (
	slashes = regexp.MustCompile(`(?i)(?::|%(?:25)*3a)(?:[/\\]|%(?:25)*(?:2f|5c))|(?:[/\\]|%(?:25)*(?:2f|5c)){2}`)
	more    = regexp.MustCompile(`(?i)^(?:[/\\]|%(?:25)*(?:2f|5c))+`)
	colon   = regexp.MustCompile(`(?i):|%(?:25)*3a`)
	at      = regexp.MustCompile(`@|%(?:25)*40`)
	end     = regexp.MustCompile(`(?i)[/?# \t\r\n"<>]|%(?:25)*(?:2f|3f|23|20|22|3c|3e)`)
)

// URLs returns text with the passwords of all URLs replaced. In a malformed URL it
// hides too much rather than too little.
func URLs(text string) string {
	if !strings.ContainsAny(text, "@%") || !at.MatchString(text) {
		return text
	}
	var b strings.Builder
	for {
		mark := slashes.FindStringIndex(text)
		if mark == nil {
			b.WriteString(text)
			return b.String()
		}
		start := mark[1] + len(more.FindString(text[mark[1]:]))
		b.WriteString(text[:start])
		text = text[start:]
		next := len(text)
		if mark := slashes.FindStringIndex(text); mark != nil && !isUserinfoStart(text[:mark[0]]) { // a URL in another one, or after it
			next = mark[0]
		}
		b.WriteString(userinfo(text[:next]))
		text = text[next:]
	}
}

// isUserinfoStart reports whether the text before slashes can be a user name and the
// start of a password that contains the slashes.
func isUserinfoStart(text string) bool {
	if i := end.FindStringIndex(text); i != nil {
		text = text[:i[0]]
	}
	begin := colon.FindStringIndex(text)
	return begin != nil && !at.MatchString(text) && text[0] != '[' && strings.Trim(text[begin[1]:], "0123456789") != ""
}

// userinfo hides the password in the text after the slashes of a URL.
func userinfo(rest string) string {
	authority := rest
	if i := end.FindStringIndex(rest); i != nil {
		authority = rest[:i[0]]
	}
	begin := colon.FindStringIndex(authority)
	if begin == nil {
		return rest
	}
	if ats := at.FindAllStringIndex(authority, -1); len(ats) > 0 {
		if last := ats[len(ats)-1][0]; begin[1] <= last {
			return rest[:begin[1]] + hidden + rest[last:]
		}
		return rest
	}
	// A password with a slash is invalid in a URL, but people type it.
	ats := at.FindAllStringIndex(rest, -1)
	if len(ats) == 0 || authority[0] == '[' || strings.Trim(authority[begin[1]:], "0123456789") == "" {
		return rest
	}
	return rest[:begin[1]] + hidden + rest[ats[len(ats)-1][0]:]
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
