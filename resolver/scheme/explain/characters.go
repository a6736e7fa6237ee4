package explain

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// decoded percent-decodes a part of a URI.
func decoded(part string) string {
	text, err := url.PathUnescape(part)
	if err != nil { // unreachable: the parser has checked the encoding
		return part
	}
	return text
}

// warnOfCharacters warns of invisible characters in a part: of line ends, as RFC 1738 section 6 requires,
// because they end a command in many protocols; of other control characters; and of those that change the
// direction of text.
func (d *description) warnOfCharacters(part, value string) {
	switch {
	case strings.ContainsAny(value, "\r\n"):
		d.warnHarmful(fmt.Sprintf("The %s contains an encoded line end (CR or LF). A program that sends it as it is "+
			"would send "+
			"more commands or fields than this address seems to have.", strings.ToLower(part)))
	case strings.ContainsFunc(value, unicode.IsControl):
		d.warnHarmful(fmt.Sprintf("The %s contains an encoded control character, which a program may take for a "+
			"command.", strings.ToLower(part)))
	case strings.ContainsFunc(value, isBidi):
		d.warnHarmful(fmt.Sprintf("The %s contains an invisible character that changes the direction of text, so "+
			"that it can look "+
			"like something else.", strings.ToLower(part)))
	}
}

func isBidi(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }
