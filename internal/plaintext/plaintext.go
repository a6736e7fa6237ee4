// Package plaintext parses and formats short texts for the command line, the API and the pages. Dates and times
// (RFC 3339) enter as text and leave as time.Time; texts written by others leave on one line, shortened, and
// with control characters and directional formatting characters (Unicode UAX #9) escaped, so that they can
// neither control a terminal nor misrepresent their content.
package plaintext

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// OneLine returns text with line breaks, control characters and characters that change the text direction
// (Unicode UAX #9) escaped as \u and their number, so that the displayed text is the actual content.
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

// Truncate returns the longest prefix of text with at most most bytes that ends with a complete character.
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Shorten is like Truncate, but appends an ellipsis to a shortened text.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.TrimRight(Truncate(text, most), " ") + "…"
}

// dayEnd is the last representable time of a day: stored times have a precision of milliseconds.
const dayEnd = 24*time.Hour - time.Millisecond

// ParseTime parses user input for a time: a time according to RFC 3339, or a date in UTC, which stands for its
// first moment.
func ParseTime(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		return time.Time{},
			fmt.Errorf("%.40q is neither a date, such as 2031-05-01, nor a time, such as 2031-05-01T10:00:00Z", text)
	}
	return t.UTC(), nil
}

// ParseTimeEnd is like ParseTime, but a date stands for its last moment, so that the whole day is in the past.
func ParseTimeEnd(text string) (time.Time, error) {
	t, err := ParseTime(text)
	if err == nil && len(strings.TrimSpace(text)) == len(time.DateOnly) {
		t = t.Add(dayEnd)
	}
	return t, err
}

// ParseDay parses a date, which is a day in UTC.
func ParseDay(text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, strings.TrimSpace(text))
	if err != nil {
		return time.Time{}, fmt.Errorf("%.40q is not a day, such as 2031-05-01", text)
	}
	return day, nil
}
