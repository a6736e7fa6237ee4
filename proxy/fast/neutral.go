package fast

import "net/textproto"

// neutral returns the name, as http.Header has it, of a field that the fast path need not heed, or does heed: "" for
// all others. None of them changes a request, its framing or, but for those of a proxy in front, its rights; where a stored response was
// selected by one (Vary), its value is compared.
func neutral(name string) string {
	for _, known := range neutralOf(len(name)) {
		if equalFold(name, known) {
			return known
		}
	}
	return ""
}

// heed notes what a field asks of the caches.
func (r *Request) heed(name string) {
	switch name {
	case "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto", "X-Forwarded-Server", "X-Real-Ip":
		r.IsForwarded = true
	case "If-Range", "Range":
		r.IsRanged = true
	}
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
	3:  {"Dnt", "Via"},
	5:  {"Range"},
	6:  {"Accept", "Cookie", "Origin"},
	7:  {"Referer", "Sec-Gpc"},
	8:  {"Priority", "If-Range"},
	9:  {"Sec-Ch-Ua", "Save-Data", "X-Real-Ip", "Forwarded"},
	10: {"User-Agent", "Connection"},
	13: {"If-None-Match"},
	14: {"Accept-Charset", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Sec-Fetch-Site", "Sec-Fetch-User"},
	15: {"Accept-Encoding", "Accept-Language", "X-Forwarded-For"},
	16: {"Sec-Ch-Ua-Mobile", "Proxy-Connection", "X-Requested-With", "X-Forwarded-Host", "X-Forwarded-Port"},
	17: {"If-Modified-Since", "X-Forwarded-Proto"},
	18: {"Sec-Ch-Ua-Platform", "X-Forwarded-Server"},
	25: {"Upgrade-Insecure-Requests"},
}
