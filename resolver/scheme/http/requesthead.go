package http

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

// isFraming reports whether appendHead itself writes the field.
func isFraming(f httpmessage.Field) bool {
	return httpmessage.UseOf(f.Name)&httpmessage.Framing != 0
}

// appendHead appends the request line and the header section, with the order and spelling of the fields
// unchanged: RFC 9112 sections 3 and 5.
func (r *request) appendHead(b []byte, keepAlive bool) []byte {
	b = append(b, r.Method...)
	b = append(b, ' ')
	b = append(b, r.target.line...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = http1.AppendField(b, "Host", cmp.Or(r.Host, r.target.authority))
	if r.target.forwarded() {
		b = r.target.upstream.appendCredentials(b)
	}
	for _, f := range r.Fields {
		if isFraming(f) || f.Value == "" && f.HasName("User-Agent") {
			continue // in net/http an empty User-Agent means none
		}
		b = http1.AppendField(b, f.Name, f.Value)
	}
	if r.takesTrailers() {
		b = http1.AppendField(b, "TE", "trailers") // no other transfer coding is supported
	}
	if options := r.connection(keepAlive); options != "" {
		b = http1.AppendField(b, "Connection", options)
	}
	return append(r.appendFraming(b), "\r\n"...)
}

// appendFraming appends the fields that describe the body: RFC 9112 section 6.
func (r *request) appendFraming(b []byte) []byte {
	if r.expects {
		b = http1.AppendField(b, "Expect", "100-continue")
	}
	switch {
	case r.length > 0:
		return http1.AppendField(b, "Content-Length", strconv.FormatInt(r.length, 10))
	case r.length < 0:
		b = http1.AppendField(b, "Transfer-Encoding", "chunked")
		if names := r.trailerNames(); names != "" {
			b = http1.AppendField(b, "Trailer", names)
		}
		return b
	case r.Body != nil || r.Fields.Has("Content-Length") || definesContent(r.Method):
		return http1.AppendField(b, "Content-Length", "0")
	default:
		return b
	}
}

// definesContent reports whether a request with the method needs Content-Length: 0 if it has no content: RFC
// 9110 section 8.6.
func definesContent(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// connection returns the connection options: RFC 9110 section 7.6.1.
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

// takesTrailers reports whether the client accepts trailer fields: RFC 9110 section 10.1.4.
func (r *request) takesTrailers() bool {
	return httpguts.HeaderValuesContainsToken(r.Fields.Values("Te"), "trailers")
}

// trailerNames returns the trailer field names that are known before the body: RFC 9110 section 6.6.2.
func (r *request) trailerNames() string {
	if r.Trailer != nil {
		return strings.Join(r.Trailer.Names, ", ")
	}
	return r.Fields.List("Trailer")
}
