package http

import (
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/resolver/scheme"
)

// framing is how the end of a response is found: RFC 9112 section 6.3.
type framing struct {
	length  int64 // octets of content; -1 where it is not known
	empty   bool  // no body follows
	chunked bool
	persist bool // the connection may be used again
}

// frame returns the framing of a final response to a method, and removes from its header what
// was only about that. What could be understood in two ways is refused.
func frame(method string, h *head) (framing, error) {
	f, err := declared(h)
	if err != nil {
		return f, err
	}
	switch {
	case !hasNoContent(method, h.status):
		f.empty = f.length == 0
	case method == http.MethodHead:
		f.empty, f.chunked = true, false
	default:
		return framing{empty: true, persist: f.persist}, nil
	}
	return f, nil
}

// declared returns the framing that the fields of a response declare.
func declared(h *head) (framing, error) {
	codings, lengths := h.fields.Lines("Transfer-Encoding"), h.fields.Lines("Content-Length")
	coded, sized := len(codings) > 0, len(lengths) > 0
	f := framing{length: -1, chunked: coded}
	f.persist = h.minor > '0' && !httpguts.HeaderValuesContainsToken(h.fields.Lines("Connection"), "close")
	switch {
	case coded && sized:
		return f, invalid("it has Transfer-Encoding and Content-Length")
	case coded && h.minor == '0':
		return f, invalid("it has Transfer-Encoding in HTTP/1.0")
	case coded && (len(codings) != 1 || !strings.EqualFold(codings[0], "chunked")):
		return f, invalid("its Transfer-Encoding %.40q is not chunked alone", strings.Join(codings, ", "))
	case coded:
		h.fields.Del("Transfer-Encoding")
		return f, nil
	case !sized:
		return f, nil
	}
	var err error
	f.length, err = parseLength(lengths)
	if err == nil && (len(lengths) > 1 || strings.Contains(lengths[0], ",")) {
		h.fields.Set("Content-Length", strconv.FormatInt(f.length, 10))
	}
	return f, err
}

// hasNoContent reports whether a final response has no content, whatever its fields say: RFC 9110
// section 6.4.1.
func hasNoContent(method string, status int) bool {
	return method == http.MethodHead || status == http.StatusNoContent || status == http.StatusNotModified
}

// parseLength returns the value of Content-Length, which may be repeated: RFC 9112 section 6.3.
func parseLength(lines []string) (int64, error) {
	length := int64(-1)
	for value := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		n, ok := scheme.ParseSize(strings.Trim(value, " \t"))
		if !ok || length >= 0 && n != length {
			return 0, invalid("its Content-Length %.40q is not one number up to %d", strings.Join(lines, ", "), scheme.MaxSize)
		}
		length = n
	}
	return length, nil
}
