package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/resolver/scheme"
)

var (
	errMethod = errors.New("the method is none of a request for a resource")
	errField  = errors.New("a field that HTTP does not allow")
)

// request is a request that was checked, with its framing.
type request struct {
	scheme.Request
	target  target
	length  int64 // of the body; -1 is chunked
	expects bool  // 100-continue
	upgrade bool
	begun   bool // the body may have been read in part
	check   func(netip.AddrPort) error
	handler *Handler
	interim func(status int, header http.Header) error
}

// newRequest checks a request, and frames it anew.
func (h *Handler) newRequest(ctx context.Context, in scheme.Request) (*request, error) {
	if !httpguts.ValidHeaderFieldName(in.Method) || in.Method == http.MethodConnect {
		return nil, fmt.Errorf("%w: %q", errMethod, in.Method)
	}
	if err := checkFields(in.Header); err != nil {
		return nil, err
	}
	var upstream *Upstream
	if h.config.Upstream != nil {
		upstream = h.config.Upstream(in.URI)
	}
	to, err := newTarget(in.Method, in.URI, upstream)
	if err != nil {
		return nil, err
	}
	r := &request{Request: in, target: to, check: refusing(in.Check), handler: h, interim: interim(ctx, in.Interim)}
	if upstream != nil {
		if err := checkLiteral(to.address, r.check); err != nil {
			return nil, err
		}
	}
	switch {
	case in.Body == nil:
	case in.ContentLength < 0 || len(in.Trailer) > 0:
		r.length = -1
	default:
		r.length = in.ContentLength
	}
	r.expects = r.length != 0 && httpguts.HeaderValuesContainsToken(in.Header["Expect"], "100-continue")
	r.upgrade = len(in.Header["Upgrade"]) > 0
	return r, nil
}

// checkFields refuses what would end a field line, or stand for another one: RFC 9110 section 5.
func checkFields(header http.Header) error {
	for name, values := range header {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("%w: the name %q", errField, name)
		}
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return fmt.Errorf("%w: the value of %s", errField, name)
			}
		}
	}
	return nil
}

// hasBody reports whether a body is sent.
func (r *request) hasBody() bool { return r.length != 0 }

// repeatable reports whether a request that failed may be sent once more: RFC 9110 section 9.2.2.
func (r *request) repeatable(err error) bool {
	if !errors.As(err, new(unanswered)) || r.begun {
		return false
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	default:
		return false
	}
}

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
	b = appendField(b, "Host", r.target.authority)
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

// keepsAlive reports whether the caller lets the connection be used again.
func (r *request) keepsAlive() bool {
	return r.handler.pool.enabled() && !httpguts.HeaderValuesContainsToken(r.Header["Connection"], "close")
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

func closeBody(body io.Reader) {
	if closer, ok := body.(io.Closer); ok {
		_ = closer.Close()
	}
}
