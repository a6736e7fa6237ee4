package route

import (
	"net/url"
	"strconv"
	"strings"
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// RequestHead is the head of a request, independent of the protocol. Its strings may refer to the read buffer, and
// are then valid as long as that.
type RequestHead struct {
	Method string
	Target string // the request-target, as sent
	// Host is the host of the request, with or without port: in absolute-form that of the target (RFC 9112
	// section 3.2.2), by HTTP/2 that of :authority.
	Host   string
	HTTP2  bool
	Header httpmessage.Header
	// Scratch holds the strings of a Request, which are valid until it is reused; nil allocates them.
	Scratch *Scratch
}

// Scratch is memory that is reused for one request after the other. The zero value is ready to use.
type Scratch struct {
	key    [256]byte
	target []byte
	text   []byte // of a parameter
}

// unescape returns a text percent-decoded (RFC 3986 section 2.1), or unchanged if it is malformed. With a nil
// Scratch the result is allocated.
func (s *Scratch) unescape(text string) string {
	if s == nil || !strings.Contains(text, "%") {
		if decoded, err := url.PathUnescape(text); err == nil {
			return decoded
		}
		return text
	}
	s.text = s.text[:0]
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '%' {
			char, err := strconv.ParseUint(text[min(i+1, len(text)):min(i+3, len(text))], 16, 8)
			if err != nil || i+2 >= len(text) {
				return text
			}
			c, i = byte(char), i+2
		}
		s.text = append(s.text, c)
	}
	return inPlace(s.text)
}

// clone returns a copy of a string of the request if the string may refer to reused memory.
func (v *RequestHead) clone(text string) string {
	if v.Scratch == nil {
		return text
	}
	return strings.Clone(text)
}

// normalize returns a URI in normal form.
func (v *RequestHead) normalize(u uri.URI) uri.URI {
	if v.Scratch == nil {
		return u.Normalize()
	}
	return u.NormalizeIn(v.Scratch.key[:], inPlace)
}

// absolute returns a target in origin-form as absolute-form.
func (v *RequestHead) absolute(scheme, host, target string) string {
	if v.Scratch == nil {
		return scheme + "://" + host + target
	}
	text := append(append(v.Scratch.target[:0], scheme...), "://"...)
	v.Scratch.target = append(append(text, host...), target...)
	return inPlace(v.Scratch.target)
}

// inPlace returns a string that shares the memory of the bytes.
func inPlace(data []byte) string {
	return unsafe.String(unsafe.SliceData(data), len(data)) //nolint:gosec // the bytes do not change meanwhile
}
