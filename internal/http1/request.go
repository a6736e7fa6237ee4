package http1

import (
	"net/http"
	"strings"
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
)

// ParseRequest parses the head of a request that b begins with into r, which it resets, and returns its size; 0 where
// it is not complete: then it is called again when more has come. maxHeader bounds the head, in bytes. The texts of r
// lie over b, which must not change before r is cloned or used no more. It allocates for a chunked body alone. Empty
// lines before a request, which RFC 9112 section 2.2 lets a server ignore, are the caller's.
//
// r.Fields are without Host, Transfer-Encoding and Trailer, which are r.Host, r.ContentLength (-1 for chunked) and
// r.Trailer. r.Body and r.Conn are the caller's.
//
// An error is an *Error. Then r has the method and the target, as far as they are known.
func ParseRequest(b []byte, r *httpmessage.Incoming, maxHeader int) (n int, err error) {
	r.Reset()
	text := unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // as documented
	r.Over(text)
	section, err := parseRequestLine(text, r, maxHeader)
	complete := section != ""
	// What ends with an empty line has the end of the head: most requests have no body. Else it is looked for first, so
	// that a head that comes byte by byte is not parsed again with each of them.
	if complete && err == nil && (!strings.HasSuffix(text, emptyLine) || len(text) > maxHeader) {
		complete, err = hasEnd(text, maxHeader)
	}
	switch {
	case err != nil:
		return 0, err
	case !complete:
		r.Reset()
		return 0, nil
	}
	rest, err := parseSection(section, r, maxHeader)
	if err != nil {
		return 0, err
	}
	size := len(text) - len(rest)
	r.Over(text[:size])
	return size, nil
}

// emptyLine is what a head ends with, with the end of the line before.
const emptyLine = crlf + crlf

// hasEnd reports whether a text has the end of a head. An error is for a beginning that no head has: the end of one
// whose lines end with LF alone would never come.
func hasEnd(text string, maxHeader int) (bool, error) {
	for size := 0; ; {
		lf := strings.IndexByte(text[size:min(len(text), maxHeader)], '\n')
		switch size += lf + 1; {
		case lf < 0 && len(text) >= maxHeader:
			return false, errHeader()
		case lf < 0:
			return false, nil
		case !strings.HasSuffix(text[:size], crlf):
			return false, refused(reasonBareLF)
		case strings.HasSuffix(text[:size], emptyLine):
			return true, nil
		}
	}
}

// parseRequestLine parses the request line that a text begins with, and returns what is behind it: RFC 9112 section 3;
// "" where nothing is yet.
func parseRequestLine(text string, r *httpmessage.Incoming, maxHeader int) (rest string, err error) {
	line, rest, complete := strings.Cut(text, "\n")
	if !complete {
		return "", checkPartialLine(line, r, maxHeader)
	}
	line, isCRLF := strings.CutSuffix(line, "\r")
	method, line, ok := strings.Cut(line, " ")
	if !ok || !isToken(method) {
		return "", refused(reasonMethod)
	}
	end := spanAbove(line, '!')
	r.Method, r.Target = method, line[:end]
	version, ok := strings.CutPrefix(line[end:], " ")
	switch {
	case len(text)-len(rest) > maxHeader:
		return "", errTarget()
	case end == 0 || !ok && end < len(line):
		r.Target = intendedTarget(line, end)
		return "", refused("the request-target is empty, or has a space or a control character")
	}
	if r.Major, r.Minor, ok = http.ParseHTTPVersion(version); !ok {
		r.Target = intendedTarget(line, end)
		return "", refused("the request line does not end with a version of HTTP and CRLF")
	}
	switch {
	case !isCRLF:
		return "", refused(reasonBareLF)
	case r.Major != 1:
		return "", &Error{Status: http.StatusHTTPVersionNotSupported, Reason: "this version of HTTP is not supported"}
	}
	r.Minor = min(r.Minor, 1) // a later one is understood as the last one known here: RFC 9110 section 2.5
	r.Host, err = authority(r.Method, r.Target)
	return rest, err
}

const reasonMethod = "the request does not begin with a method, which is a token, and a space"

// errTarget returns the error of a request line that is longer than a head may be.
func errTarget() error {
	return &Error{Status: http.StatusRequestURITooLong, Reason: "the request-target is too long"}
}

// checkPartialLine returns why a line whose end has not come cannot become a request line, nil where it may: the end of
// what is none, such as TLS, might never come.
func checkPartialLine(line string, r *httpmessage.Incoming, maxHeader int) error {
	method, target, hasMethod := strings.Cut(line, " ")
	tooLong := len(line) >= maxHeader
	switch {
	case !hasMethod && (line == "" || line == "\r"): // an empty line, which is skipped
		return nil
	case !isToken(method):
		return refused(reasonMethod)
	case tooLong && !hasMethod:
		return errHeader()
	case tooLong:
		r.Method, r.Target = method, target[:spanAbove(target, '!')]
		return errTarget()
	case strings.Contains(strings.TrimSuffix(target, "\r"), "\r"):
		return refused(reasonBareCR)
	default:
		return nil
	}
}

// intendedTarget returns what is before the version in a request line without its method, where the target ends with a
// space or a control character, so that a refusal can name it; what is before end where there is no version behind it.
func intendedTarget(line string, end int) string {
	return line[:max(end, strings.LastIndex(line, " HTTP/1."))]
}

// authority returns the host and the port of a target in absolute-form or authority-form, which count in place of Host,
// "" for none: RFC 9112 sections 3.2.2 and 3.2.3. A target of no form is refused (section 3.2). Its path and its query
// are left to the parser of URIs.
func authority(method, target string) (host string, err error) {
	if target[0] == '/' || target == "*" {
		return "", nil
	}
	host = target
	if method != http.MethodConnect {
		scheme, rest, ok := strings.Cut(target, ":")
		if !ok || !validScheme(scheme) {
			return "", refused("the request-target has none of the forms of RFC 9112 section 3.2")
		}
		if host, ok = strings.CutPrefix(rest, "//"); !ok {
			return "", nil
		}
	}
	if end := strings.IndexAny(host, "/?"); end >= 0 {
		host = host[:end]
	}
	if strings.ContainsAny(host, "\"#<>\\^`{|}") { // the others are left to the parser of URIs
		return "", refused("the authority of the request-target is not valid")
	}
	return host[strings.LastIndexByte(host, '@')+1:], nil
}

// validScheme reports whether a text is a scheme: RFC 3986 section 3.1.
func validScheme(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return text != ""
}

// parseSection parses a header section that has its empty line, and returns what is behind that.
func parseSection(section string, r *httpmessage.Incoming, maxHeader int) (rest string, err error) {
	h := framingFields{Incoming: r, length: -1}
	if rest, err = cutFields(section, maxFields(maxHeader), h.add); err != nil {
		return "", err
	}
	return rest, h.finish()
}
