package http1

import "golang.org/x/net/http/httpguts"

// TrailerField reports whether a field, named as net/http does, may be in a trailer section, and does not decide about framing, routing or
// the like: RFC 9110 section 6.5.1.
func TrailerField(name string) bool { return name != "" && httpguts.ValidTrailerHeader(name) }
