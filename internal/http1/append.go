package http1

import (
	"net/http"
	"strconv"

	"github.com/urnd/urnd/internal/httpmessage"
)

// AppendStatusLine appends a status line of HTTP/1.1: RFC 9112 section 4. A reason of "" is the phrase of RFC 9110.
func AppendStatusLine(b []byte, status int, reason string) []byte {
	if reason == "" {
		reason = http.StatusText(status)
	}
	b = strconv.AppendInt(append(b, "HTTP/1.1 "...), int64(status), 10)
	return append(httpmessage.AppendValue(append(b, ' '), reason), crlf...)
}

// AppendField appends a field line, unless its name is not a token: RFC 9112 section 5. The value is sent as
// httpmessage.AppendValue does.
func AppendField(b []byte, name, value string) []byte {
	if !isToken(name) {
		return b
	}
	b = append(append(b, name...), ": "...)
	return append(httpmessage.AppendValue(b, value), crlf...)
}

// AppendFields appends a section of field lines without its empty line.
func AppendFields(b []byte, fields httpmessage.Fields) []byte {
	for i := range fields {
		b = AppendField(b, fields[i].Name, fields[i].Value)
	}
	return b
}

// AppendChunkSize appends the line before the content of a chunk, which is not empty and has CRLF behind it: RFC 9112
// section 7.1.
func AppendChunkSize(b []byte, size int) []byte {
	return append(strconv.AppendInt(b, int64(size), 16), crlf...)
}

// AppendLastChunk appends what ends a body in the chunked coding, with the fields of a trailer section.
func AppendLastChunk(b []byte, trailer httpmessage.Fields) []byte {
	return append(AppendFields(append(b, "0\r\n"...), trailer), crlf...)
}
