// Package plaintext is how people's texts are read and shown, by commands, the API and pages alike: times are parsed, and what others
// have written is shown in one line, without what commands a terminal, and not too long.
package plaintext

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// OneLine returns a text that is written by others with what would break a line, command a terminal or change the direction of a
// text (Unicode, UAX 9) as \u and its number: what is seen is what is there.
func OneLine(text string) string {
	hidden := func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == '\ufeff'
	}
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Cut returns as much of a text as so many bytes hold, in whole characters.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Shorten is Cut, with a mark where the text goes on.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.TrimRight(Cut(text, most), " ") + "…"
}

// dayEnd is the last moment of a day that is stored: times have milliseconds.
const dayEnd = 24*time.Hour - time.Millisecond

// ParseTime reads what a person or a client writes for a time: one of RFC 3339, or a date in UTC, which is its first moment.
func ParseTime(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("%.40q is neither a date, such as 2031-05-01, nor a time, such as 2031-05-01T10:00:00Z", text)
	}
	return t.UTC(), nil
}

// ParseTimeEnd is ParseTime where a date is its last moment, so that all of the day has happened.
func ParseTimeEnd(text string) (time.Time, error) {
	t, err := ParseTime(text)
	if err == nil && len(strings.TrimSpace(text)) == len(time.DateOnly) {
		t = t.Add(dayEnd)
	}
	return t, err
}

// ParseDay reads a date, which is a day in UTC.
func ParseDay(text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, strings.TrimSpace(text))
	if err != nil {
		return time.Time{}, fmt.Errorf("%.40q is not a day, such as 2031-05-01", text)
	}
	return day, nil
}
