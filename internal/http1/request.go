package http1

import (
	"cmp"
	"net/http"
	"strings"
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
)

// ParseRequest parses the head of a request that b begins with into r, which it resets, and returns its size; 0 where it
// is not complete: then it is called again when more has come. The texts of r lie over b, which must not change before r
// is cloned or used no more. It allocates for the trailer of a chunked body alone. Empty lines before a request, which
// RFC 9112 section 2.2 lets a server ignore, are the caller's.
//
// r.Fields are without Host, Transfer-Encoding and Trailer, which are r.Host, r.ContentLength (-1 for chunked) and
// r.Trailer. r.Body and r.Conn are the caller's.
//
// An error is an *Error. Then r has the method and the target, as far as they are known.
func ParseRequest(b []byte, r *httpmessage.Incoming, limits Limits) (n int, err error) {
	r.Reset()
	text := unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // as documented
	r.Over(text)
	// What ends with an empty line has the end of the head: most requests have no body. Else it is looked for first, so
	// that a head that comes byte by byte is not parsed again with each of them.
	if !strings.HasSuffix(text, emptyLine) || len(text) > limits.MaxHeader {
		if text, err = cutHead(text, r, limits); text == "" {
			return 0, err
		}
	}
	rest, err := parseHead(text, r, limits)
	if err != nil {
		return 0, err
	}
	size := len(text) - len(rest)
	r.Over(text[:size])
	return size, nil
}

// emptyLine is what a head ends with, with the end of the line before.
const emptyLine = crlf + crlf

// cutHead returns the head that a text begins with, with its empty line; "" where that has not come. An error is for a
// beginning that no head has: the end of one whose lines end with LF alone would never come.
func cutHead(text string, r *httpmessage.Incoming, limits Limits) (head string, err error) {
	size := 0
	for range limits.maxFields() + 2 { // with the request line and the empty one
		lf := strings.IndexByte(text[size:min(len(text), limits.MaxHeader)], '\n')
		if lf < 0 {
			return "", checkPartial(text, r, limits)
		}
		size += lf + 1
		if !strings.HasSuffix(text[:size], crlf) {
			_, err = parseRequestLine(text, r, limits)
			return "", cmp.Or(err, refused(reasonBareLF))
		}
		if strings.HasSuffix(text[:size], emptyLine) {
			return text[:size], nil
		}
	}
	_, err = parseRequestLine(text, r, limits)
	return "", cmp.Or(err, errFields())
}

// checkPartial returns why a head of which the end has not come is refused, nil where it may still become one.
func checkPartial(text string, r *httpmessage.Incoming, limits Limits) error {
	if text != "" && text != "\r" { // which may become an empty line, and is skipped
		if _, err := parseRequestLine(text, r, limits); err != nil {
			return err
		}
	}
	if len(text) >= limits.MaxHeader {
		return &Error{Status: http.StatusRequestHeaderFieldsTooLarge, Reason: "the head is too large"}
	}
	r.Reset()
	return nil
}

// versionBegins reports whether a text begins with a version and its line end, or with the beginning of them: RFC 9112
// section 2.3.
func versionBegins(text string) bool {
	const form = " HTTP/0.0\r\n"
	for i := range min(len(text), len(form)) {
		digit := form[i] == '0' && '0' <= text[i] && text[i] <= '9'
		if text[i] != form[i] && !digit {
			return false
		}
	}
	return true
}

// parseHead parses the head that a text begins with, which has its empty line, and returns what is behind it: RFC 9112
// sections 3 and 5.
func parseHead(text string, r *httpmessage.Incoming, limits Limits) (rest string, err error) {
	rest, err = parseRequestLine(text, r, limits)
	if err != nil {
		return "", err
	}
	h := requestFields{Incoming: r, length: -1}
	most := limits.maxFields()
	for !strings.HasPrefix(rest, crlf) {
		var f httpmessage.Field
		var reason string
		if f, rest, reason = cutField(rest); reason != "" {
			return "", refused(reason)
		}
		if len(r.Fields) >= most {
			return "", errFields()
		}
		if err := h.add(f); err != nil {
			return "", err
		}
	}
	return rest[len(crlf):], h.finish()
}

const (
	reasonMethod  = "the request does not begin with a method, which is a token, and a space"
	reasonTarget  = "the request-target is empty, or has a space or a control character"
	reasonVersion = "the request line does not end with a version of HTTP and CRLF"
)

// parseRequestLine parses a request line, and returns what is behind it: RFC 9112 section 3. A text that ends within
// the line is no error where more could make it one.
func parseRequestLine(text string, r *httpmessage.Incoming, limits Limits) (rest string, err error) {
	end := tokenBytes.span(text)
	if end == len(text) {
		return "", nil
	}
	if end == 0 || text[end] != ' ' {
		return "", refused(reasonMethod)
	}
	r.Method, rest = text[:end], text[end+1:]
	behindMethod := rest
	end = spanAbove(rest, '!')
	r.Target, rest = rest[:end], rest[end:]
	switch {
	case end > limits.MaxTarget:
		return "", &Error{Status: http.StatusRequestURITooLong, Reason: "the request-target is too long"}
	case rest == "":
		return "", nil
	case end == 0 || rest[0] != ' ' && rest[0] != '\r' && rest[0] != '\n':
		r.Target = intendedTarget(behindMethod, r.Target)
		return "", refused(reasonTarget)
	}
	rest, err = parseVersion(rest, r)
	if err != nil {
		r.Target = intendedTarget(behindMethod, r.Target)
		return "", err
	}
	if r.Major == 0 {
		return "", nil
	}
	return rest, checkTarget(r)
}

// intendedTarget returns what is before the version in a request line, whose target has a space or a control character
// that a refusal can name so; the target as it was parsed, where nothing more is before one.
func intendedTarget(behindMethod, parsed string) string {
	line, _, _ := strings.Cut(behindMethod, "\n")
	if at := strings.LastIndex(line, " HTTP/1."); at > len(parsed) {
		return line[:at]
	}
	return parsed
}

// parseVersion parses the space, the version and the line end that a text begins with, and returns what is behind them:
// RFC 9112 section 2.3. r.Major stays 0 where more could complete them.
func parseVersion(text string, r *httpmessage.Incoming) (rest string, err error) {
	const form = " HTTP/1.1\r\n"
	switch {
	case strings.HasPrefix(text, form):
		r.Major, r.Minor = 1, 1
	case !versionBegins(text):
		line, _, ok := strings.Cut(text, "\n")
		if ok && !strings.HasSuffix(line, "\r") {
			return "", refused(reasonBareLF)
		}
		return "", refused(reasonVersion)
	case len(text) < len(form):
		return "", nil
	default:
		r.Major, r.Minor = int(text[len(" HTTP/")]-'0'), int(text[len(" HTTP/1.")]-'0')
		r.Minor = min(r.Minor, 1) // a later one is understood as the last one known here: RFC 9110 section 2.5
	}
	if r.Major != 1 {
		return "", &Error{Status: http.StatusHTTPVersionNotSupported, Reason: "this version of HTTP is not supported"}
	}
	return text[len(form):], nil
}

// checkTarget returns why a request-target has no form of RFC 9112 section 3.2. Its path and its query are left to the
// parser of URIs.
func checkTarget(r *httpmessage.Incoming) error {
	if r.Target[0] == '/' || r.Target == "*" || r.Method == http.MethodConnect || scheme(r.Target) != "" {
		return nil
	}
	return refused("the request-target has none of the forms of RFC 9112 section 3.2")
}

// scheme returns the scheme and the colon that a target begins with, "" for none: RFC 3986 section 3.1.
func scheme(target string) string {
	for i := range len(target) {
		switch c := target[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && c == ':':
			return target[:i+1]
		case i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.':
			return ""
		}
	}
	return ""
}

// authority returns the host and the port of a target in absolute-form or authority-form, "" for none, and why they are
// refused. They count in place of Host: RFC 9112 sections 3.2.2 and 3.2.3.
func authority(method, target string) (host, reason string) {
	if target[0] == '/' || target == "*" {
		return "", ""
	}
	host = target
	if method != http.MethodConnect {
		var ok bool
		if host, ok = strings.CutPrefix(target[len(scheme(target)):], "//"); !ok {
			return "", ""
		}
	}
	for i := range len(host) {
		if host[i] == '/' || host[i] == '?' {
			host = host[:i]
			break
		}
	}
	for i := range len(host) {
		if c := host[i]; !hostBytes[c] && c != '@' && c < 0x80 { // the others are left to the parser of URIs
			return "", "the authority of the request-target is not valid"
		}
	}
	return host[strings.LastIndexByte(host, '@')+1:], ""
}
