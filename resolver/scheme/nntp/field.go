package nntp

import (
	"mime"
	"net/mail"
	"strings"
	"time"

	"github.com/emersion/go-message/charset"

	"github.com/urnd/urnd/resolver/scheme"
)

// headerText decodes the encoded words (RFC 2047) in the value of a header field. Invalid ones stay unchanged.
func headerText(value string) string {
	decoder := mime.WordDecoder{CharsetReader: charset.Reader}
	if text, err := decoder.DecodeHeader(value); err == nil {
		value = text
	}
	return scheme.DecodeText(strings.NewReplacer("\r", " ", "\n", " ").Replace(value))
}

// parseDate parses the date of an article: RFC 5536 section 3.1.1, and the obsolete forms of RFC 5322 section
// 4.3. It returns the zero value for an invalid date, and for a year before 1970 or after 9999.
func parseDate(text string) time.Time {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "(") // a comment with the name of the time zone
	text = strings.TrimSpace(text)
	if i := strings.LastIndexByte(text, ' '); i >= 0 {
		text = text[:i+1] + zone(text[i+1:])
	}
	date, err := mail.ParseDate(text)
	const first, last = 1970, 9999
	if date = date.UTC(); err != nil || date.Year() < first || date.Year() > last {
		return time.Time{}
	}
	return date
}

// zone returns the offset of a named time zone of RFC 5322 section 4.3; any other text unchanged.
func zone(name string) string {
	switch name {
	case "UT", "GMT", "UTC":
		return "+0000"
	case "EDT":
		return "-0400"
	case "EST", "CDT":
		return "-0500"
	case "CST", "MDT":
		return "-0600"
	case "MST", "PDT":
		return "-0700"
	case "PST":
		return "-0800"
	}
	return name
}
