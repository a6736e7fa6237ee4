package http1

import (
	"net/http"
	"strings"
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
)

// ParseRequest parses the request head at the beginning of b into r, which it resets first. It returns the size
// of the head in bytes, or 0 if the head is incomplete: the caller calls it again with more data. maxHeader
// limits the head, in bytes. The strings of r point into b, which must not change until r is cloned or no
// longer used. ParseRequest allocates only for a chunked body. The caller skips empty lines before a request,
// which RFC 9112 section 2.2 permits a server to ignore.
//
// r.Fields excludes Host, Transfer-Encoding and Trailer, which become r.Host, r.ContentLength (-1 for chunked)
// and r.Trailer. The caller sets r.Body and r.Conn.
//
// Errors are of type *Error. On an error r contains the method and the target if they are known.
func ParseRequest(b []byte, r *httpmessage.Incoming, maxHeader int) (n int, err error) {
	r.Reset()
	text := unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see the doc comment
	r.SetBuffer(text)
	section, err := parseRequestLine(text, r, maxHeader)
	complete := section != ""
	// Most requests have no body, so text that ends with an empty line contains the end of the head. Otherwise
	// the end is searched first, so that a head that arrives byte by byte is not parsed again for each byte.
	if complete && err == nil && (!strings.HasSuffix(text, emptyLine) || len(text) > maxHeader) {
		complete, err = checkComplete(text, maxHeader)
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
	r.SetBuffer(text[:size])
	return size, nil
}

// emptyLine terminates a head: the CRLF of the last line and the CRLF of the empty line.
const emptyLine = crlf + crlf

// checkComplete reports whether text contains the end of a head. It returns an error if the head exceeds maxHeader, or
// if text cannot be the prefix of a head: for a head with bare LFs the end would never be found.
func checkComplete(text string, maxHeader int) (bool, error) {
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

// parseRequestLine parses the request line at the beginning of text: RFC 9112 section 3. It returns the text
// after the line, or "" if the line is incomplete.
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
	r.Minor = min(r.Minor, 1) // A higher minor version is treated as the highest supported one: RFC 9110 section 2.5.
	r.Host, err = authority(r.Method, r.Target)
	return rest, err
}

const reasonMethod = "the request does not begin with a method token and a space"

// errTarget returns the error of a request line that exceeds the limit of a head.
func errTarget() error {
	return &Error{Status: http.StatusRequestURITooLong, Reason: "the request-target is too long"}
}

// checkPartialLine returns an error if an incomplete line cannot become a request line. Other protocols, such
// as TLS, might never send an end of the line.
func checkPartialLine(line string, r *httpmessage.Incoming, maxHeader int) error {
	method, target, hasMethod := strings.Cut(line, " ")
	tooLong := len(line) >= maxHeader
	switch {
	case !hasMethod && (line == "" || line == "\r"): // empty lines are skipped by the caller
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

// intendedTarget returns the target of an invalid request line for the error response: the text before the
// version, even if it contains spaces or control characters. line excludes the method. Without a version it is
// the first end bytes.
func intendedTarget(line string, end int) string {
	return line[:max(end, strings.LastIndex(line, " HTTP/1."))]
}

// authority returns the host and port of a target in absolute-form or authority-form, which take precedence
// over Host: RFC 9112 sections 3.2.2 and 3.2.3. It returns "" for other forms, and an error for a target in no
// form of section 3.2. Path and query are validated by the URI parser.
func authority(method, target string) (host string, err error) {
	if target[0] == '/' || target == "*" {
		return "", nil
	}
	host = target
	if method != http.MethodConnect {
		scheme, rest, ok := strings.Cut(target, ":")
		if !ok || !validScheme(scheme) {
			return "", refused("the request-target matches no form of RFC 9112 section 3.2")
		}
		if host, ok = strings.CutPrefix(rest, "//"); !ok {
			return "", nil
		}
	}
	if end := strings.IndexAny(host, "/?"); end >= 0 {
		host = host[:end]
	}
	if strings.ContainsAny(host, "\"#<>\\^`{|}") { // the URI parser rejects other invalid characters
		return "", refused("the authority of the request-target is invalid")
	}
	return host[strings.LastIndexByte(host, '@')+1:], nil
}

// validScheme reports whether text is a scheme: RFC 3986 section 3.1.
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

// parseSection parses a header section including its empty line and returns the text after it.
func parseSection(section string, r *httpmessage.Incoming, maxHeader int) (rest string, err error) {
	h := framingFields{Incoming: r, length: -1}
	if rest, err = cutFields(section, maxFields(maxHeader), h.add); err != nil {
		return "", err
	}
	return rest, h.finish()
}
