package http

import (
	"cmp"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// isFraming reports whether a field of a request is written by appendHead itself.
func isFraming(name string) bool {
	switch name {
	case "Host", "Connection", "Te", "Content-Length", "Transfer-Encoding", "Trailer", "Expect", "Keep-Alive", "Proxy-Connection":
		return true
	default:
		return false
	}
}

// appendHead appends the request line and the header section: RFC 9112 sections 3 and 5.
func (r *request) appendHead(b []byte, keepAlive bool) []byte {
	b = append(b, r.Method...)
	b = append(b, ' ')
	b = append(b, r.target.line...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = appendField(b, "Host", cmp.Or(r.Host, r.target.authority))
	if r.target.forwarded() {
		b = r.target.upstream.appendCredentials(b)
	}
	var array [32]string
	for _, name := range sortedNames(array[:0], r.Header) {
		values := r.Header[name]
		if isFraming(textproto.CanonicalMIMEHeaderKey(name)) || name == "User-Agent" && len(values) == 1 && values[0] == "" {
			continue // an empty User-Agent is how net/http says that there is none
		}
		for _, value := range values {
			b = appendField(b, name, value)
		}
	}
	if r.takesTrailers() {
		b = appendField(b, "TE", "trailers") // no other coding is understood here
	}
	if options := r.connection(keepAlive); options != "" {
		b = appendField(b, "Connection", options)
	}
	return append(r.appendFraming(b), "\r\n"...)
}

// appendFraming appends the fields about the body: RFC 9112 section 6.
func (r *request) appendFraming(b []byte) []byte {
	if r.expects {
		b = appendField(b, "Expect", "100-continue")
	}
	switch {
	case r.length > 0:
		return appendField(b, "Content-Length", strconv.FormatInt(r.length, 10))
	case r.length < 0:
		b = appendField(b, "Transfer-Encoding", "chunked")
		if names := r.trailerNames(); names != "" {
			b = appendField(b, "Trailer", names)
		}
		return b
	case r.Body != nil || len(r.Header["Content-Length"]) > 0 || definesContent(r.Method):
		return appendField(b, "Content-Length", "0")
	default:
		return b
	}
}

// definesContent reports whether a request by a method says that it has no content: RFC 9110
// section 8.6.
func definesContent(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// connection returns the options of this connection: RFC 9110 section 7.6.1.
func (r *request) connection(keepAlive bool) string {
	var options []string
	if r.upgrade {
		options = append(options, "Upgrade")
	}
	if r.takesTrailers() {
		options = append(options, "TE") // RFC 9110 section 10.1.4
	}
	if !keepAlive && !r.upgrade {
		options = append(options, "close")
	}
	return strings.Join(options, ", ")
}

// takesTrailers reports whether the caller accepts trailers: RFC 9110 section 10.1.4.
func (r *request) takesTrailers() bool {
	return httpguts.HeaderValuesContainsToken(r.Header["Te"], "trailers")
}

// trailerNames returns the names of the trailer fields that are known before the body:
// RFC 9110 section 6.6.2.
func (r *request) trailerNames() string {
	if len(r.Trailer) > 0 {
		return strings.Join(sortedNames(nil, r.Trailer), ", ")
	}
	return strings.Join(r.Header["Trailer"], ", ")
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
}

func sortedNames(names []string, header http.Header) []string {
	names = slices.AppendSeq(names, maps.Keys(header))
	slices.Sort(names)
	return names
}
