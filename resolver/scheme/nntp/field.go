package nntp

import (
	"mime"
	"net/mail"
	"strings"
	"time"

	"github.com/emersion/go-message/charset"

	"github.com/urnd/urnd/resolver/scheme"
)

// headerText returns the value of a header field as text: with its encoded words (RFC 2047) decoded.
// What is none stays as it is.
func headerText(value string) string {
	decoder := mime.WordDecoder{CharsetReader: charset.Reader}
	if text, err := decoder.DecodeHeader(value); err == nil {
		value = text
	}
	return scheme.Text(strings.NewReplacer("\r", " ", "\n", " ").Replace(value))
}

// parseDate parses a date as articles have it: RFC 5536 section 3.1.1, and the obsolete forms of RFC 5322
// section 4.3. It returns the zero value for what is none, and for a year before those of the network.
func parseDate(text string) time.Time {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "(") // a comment: the name of the zone
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

// zone returns the offset of a zone of RFC 5322 section 4.3; other texts as they are.
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
