package fast

import "net/textproto"

// neutral returns the name, as http.Header has it, of a field that the fast path need not heed, or does heed: "" for
// all others. None of them changes a request, its framing or its rights; where a stored response was selected by one
// (Vary), its value is compared.
func neutral(name string) string {
	for _, known := range neutralOf(len(name)) {
		if equalFold(name, known) {
			return known
		}
	}
	return ""
}

// notEndToEnd are fields that are about the framing of a request, or the connection, in other ways than a plain one has them: RFC
// 9110 sections 7.6.1, 7.8 and 10.1, RFC 9112 section 6, RFC 7540 section 3.2.1.
var notEndToEnd = [...]string{lengthField, "Transfer-Encoding", "Upgrade", "Expect", "Te", "Trailer", "Keep-Alive", "Http2-Settings"}

// endToEnd returns the name, as http.Header has it, of a field that is passed on, or is for the handler; "" for all others.
func endToEnd(name string) string {
	for _, other := range notEndToEnd {
		if equalFold(name, other) {
			return ""
		}
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}

// neutralOf returns the names of a length.
func neutralOf(length int) []string {
	if length >= len(neutralNames) {
		return nil
	}
	return neutralNames[length]
}

// neutralNames are the names by their lengths.
var neutralNames = [...][]string{
	3:  {"Dnt"},
	6:  {"Accept", "Cookie", "Origin"},
	7:  {"Referer", "Sec-Gpc"},
	8:  {"Priority"},
	9:  {"Sec-Ch-Ua", "Save-Data"},
	10: {"User-Agent", "Connection"},
	13: {"If-None-Match"},
	14: {"Accept-Charset", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Sec-Fetch-Site", "Sec-Fetch-User"},
	15: {"Accept-Encoding", "Accept-Language"},
	16: {"Sec-Ch-Ua-Mobile", "Proxy-Connection", "X-Requested-With"},
	17: {"If-Modified-Since"},
	18: {"Sec-Ch-Ua-Platform"},
	25: {"Upgrade-Insecure-Requests"},
}
