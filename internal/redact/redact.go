// Package redact takes passwords out of what is logged.
package redact

import (
	"fmt"
	"log/slog"
	"strings"
)

// hidden stands where a password was.
const hidden = "xxxxx"

// URLs returns text in which no URL has a password. Where text is no proper URL it
// hides too much rather than too little.
func URLs(text string) string {
	const mark = "://"
	if !strings.Contains(text, "@") || !strings.Contains(text, mark) {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, mark)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(mark)
		end := strings.IndexAny(after, " \t\r\n\"'<>")
		if end < 0 {
			end = len(after)
		}
		if next := strings.Index(after[:end], mark); next >= 0 { // a URL in another one
			end = next
		}
		b.WriteString(userinfo(after[:end]))
		text = after[end:]
	}
}

// userinfo hides the password in what follows the slashes of a URL.
func userinfo(rest string) string {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		if user, _, ok := strings.Cut(rest[:at], ":"); ok {
			return user + ":" + hidden + rest[at:]
		}
		return rest
	}
	// A password with a slash in it, which no URL has, and people type.
	_, port, ok := strings.Cut(rest[:end], ":")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 || strings.Trim(port, "0123456789") == "" {
		return rest
	}
	user, _, _ := strings.Cut(rest, ":")
	return user + ":" + hidden + rest[at:]
}

// Attr is a ReplaceAttr of slog.HandlerOptions that redacts all texts.
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
