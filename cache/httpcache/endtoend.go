package httpcache

import (
	"net/http"
	"slices"

	"golang.org/x/net/http/httpguts"
)

// hopFields are the fields of one connection: RFC 9110 section 7.6.1. Those for the authentication of
// a proxy are consumed by it.
var hopFields = [...]string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Transfer-Encoding", "Upgrade", "Trailer",
	"Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info", "Http2-Settings",
}

// EndToEnd returns a header without the fields of the connection that it came by, which are neither
// stored nor forwarded. Lines can be appended to it.
func EndToEnd(header http.Header) http.Header {
	named := header["Connection"]
	out := make(http.Header, len(header)+4)
	for name, lines := range header {
		if slices.Contains(hopFields[:], name) || len(named) > 0 && httpguts.HeaderValuesContainsToken(named, name) {
			continue
		}
		out[name] = lines[:len(lines):len(lines)]
	}
	return out
}
