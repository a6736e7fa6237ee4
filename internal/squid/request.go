package squid

import "strings"

// Request is a line that Squid sends.
type Request struct {
	Channel string // the channel-ID, digits; "" without concurrency
	URL     string // as Squid writes it, percent-encodings and all; "" if there is none
}

// ParseRequest parses a line without its end: [channel-ID] URL [extras]. A first word of
// digits alone is a channel-ID, since no URL is one. The extras are ignored: url_rewrite_extras
// and store_id_extras of squid.conf decide what they are.
func ParseRequest(line string) Request {
	line = strings.TrimSuffix(line, "\r")
	var r Request
	if word, rest, _ := strings.Cut(line, " "); isChannel(word) {
		r.Channel, line = word, rest
	}
	r.URL, _, _ = strings.Cut(line, " ")
	return r
}

// maxChannel is the number of digits of the longest channel-ID, 64 bits.
const maxChannel = 20

func isChannel(word string) bool {
	return word != "" && len(word) <= maxChannel && strings.Trim(word, "0123456789") == ""
}
