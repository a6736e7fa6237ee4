package squid

import "strings"

// Request is a request line sent by Squid.
type Request struct {
	Channel string // channel-ID in digits; "" without concurrency
	URL     string // as sent by Squid, with percent-encodings; "" if missing
}

// ParseRequest parses a line without its line end: [channel-ID] URL [extras]. A first word of digits is a
// channel-ID, because it cannot be a URL. The extras are ignored; url_rewrite_extras and store_id_extras of
// squid.conf define them.
func ParseRequest(line string) Request {
	line = strings.TrimSuffix(line, "\r")
	var r Request
	if word, rest, _ := strings.Cut(line, " "); isChannel(word) {
		r.Channel, line = word, rest
	}
	r.URL, _, _ = strings.Cut(line, " ")
	return r
}

// maxChannel is the maximum number of digits of a channel-ID, 64 bits.
const maxChannel = 20

func isChannel(word string) bool {
	return word != "" && len(word) <= maxChannel && strings.Trim(word, "0123456789") == ""
}
