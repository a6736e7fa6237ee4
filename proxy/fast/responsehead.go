package fast

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
)

// WriteHeader implements http.ResponseWriter. Interim responses are sent at once.
func (r *Response) WriteHeader(status int) {
	switch {
	case r.status != 0:
		return
	case status < http.StatusOK:
		r.writeInterim(status)
		return
	}
	r.gather(nil)
	r.begin(status)
}

// WriteFields is WriteHeader with fields in place of those of Header that have their names. It sends no Content-Type but theirs.
func (r *Response) WriteFields(status int, fields httpmessage.Fields) {
	if r.status != 0 {
		return
	}
	r.isTyped = true
	r.gather(fields)
	r.begin(status)
}

// begin appends the head as far as it is known before the body.
func (r *Response) begin(status int) {
	r.status, r.left = status, -1
	r.appendStatusLine(status)
	_, r.isDated = r.value("Date")
	_, isTyped := r.value("Content-Type")
	coding, _ := r.value("Content-Encoding")
	r.isTyped = r.isTyped || isTyped || coding != "" || r.hasNoType()
	connection, _ := r.value("Connection")
	r.isLast = connection == "close"
	_, r.isTrailed = r.value("Trailer")
	r.frame()
	r.appendFields(func(name string) bool { return strings.HasPrefix(name, http.TrailerPrefix) || r.isSuppressed(name) })
}

// hasNoType reports whether a Content-Type of nothing is set, by which net/http guesses none.
func (r *Response) hasNoType() bool {
	_, ok := r.header["Content-Type"]
	return ok
}

// gather gathers the fields by their names, as http.Header.Write does: some fields, and those of the header with other names.
func (r *Response) gather(fields httpmessage.Fields) {
	r.lines = r.lines[:0]
	for _, f := range fields {
		r.lines = append(r.lines, httpmessage.Field{Name: f.Canonical(), Value: f.Value})
	}
	given := httpmessage.Fields(r.lines)
	for name, lines := range r.header {
		if len(given) > 0 && given.Has(name) {
			continue
		}
		for _, line := range lines {
			r.lines = append(r.lines, httpmessage.Field{Name: name, Value: line})
		}
	}
	slices.SortStableFunc(r.lines, func(a, b httpmessage.Field) int { return strings.Compare(a.Name, b.Name) })
}

// value returns the first line of a field that was gathered.
func (r *Response) value(name string) (string, bool) {
	for i := range r.lines {
		if r.lines[i].Name == name {
			return r.lines[i].Value, true
		}
	}
	return "", false
}

// frame finds the framing that the fields say.
func (r *Response) frame() {
	if text, ok := r.value("Content-Length"); ok {
		if length, err := strconv.ParseInt(text, 10, 64); err == nil && length >= 0 {
			r.framing, r.left = framingLength, length
		}
	}
	if r.isHead || r.status == http.StatusNoContent || r.status == http.StatusNotModified {
		r.framing = framingNone
	}
}

// isSuppressed reports whether a field is not sent in a response that has no content: RFC 9110 sections 8.6 and 15.4.5.
func (r *Response) isSuppressed(name string) bool {
	switch {
	case name == "Transfer-Encoding":
		return true
	case r.status == http.StatusNotModified:
		return name == "Content-Type" || name == "Content-Length"
	case r.status == http.StatusNoContent:
		return name == "Content-Length"
	default:
		return false
	}
}

// appendStatusLine appends the status line with the words that are set, or with those of net/http.
func (r *Response) appendStatusLine(status int) {
	r.out = strconv.AppendInt(append(r.out, "HTTP/1.1 "...), int64(status), 10)
	text := http.StatusText(status)
	switch {
	case r.reason.status == status:
		r.out = append(append(r.out, ' '), r.reason.text...)
	case text == "":
		r.out = strconv.AppendInt(append(r.out, " status code "...), int64(status), 10)
	default:
		r.out = append(append(r.out, ' '), text...)
	}
	r.out = append(r.out, "\r\n"...)
}

// appendFields appends the fields that were gathered, but for those that are left out.
func (r *Response) appendFields(isOut func(name string) bool) {
	for _, f := range r.lines {
		if !isOut(f.Name) && httpguts.ValidHeaderFieldName(f.Name) {
			r.appendField(f.Name, f.Value)
		}
	}
}

// appendField appends a field line. A value never has a line end (RFC 9110 section 5.5).
func (r *Response) appendField(name, value string) {
	r.out = append(append(r.out, name...), ": "...)
	start := len(r.out)
	r.out = append(r.out, strings.Trim(value, " \t\r\n")...)
	for i, c := range r.out[start:] {
		if c == '\r' || c == '\n' {
			r.out[start+i] = ' '
		}
	}
	r.out = append(r.out, "\r\n"...)
}

// writeInterim sends an interim response: RFC 9110 section 15.2.
func (r *Response) writeInterim(status int) {
	r.appendStatusLine(status)
	r.gather(nil)
	r.appendFields(func(name string) bool { return name == "Content-Length" || name == "Transfer-Encoding" })
	r.out = append(r.out, "\r\n"...)
	r.send()
}

// appendTrailer appends the trailer fields: those that were announced, and those with http.TrailerPrefix.
func (r *Response) appendTrailer() {
	var announced []string
	for _, f := range r.lines {
		if f.Name != "Trailer" {
			continue
		}
		for name := range strings.SplitSeq(f.Value, ",") {
			announced = append(announced, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	trailer := make(http.Header)
	for name, lines := range r.header {
		short, isMarked := strings.CutPrefix(name, http.TrailerPrefix)
		if isMarked || slices.Contains(announced, name) {
			trailer[short] = lines
		}
	}
	r.header = trailer
	r.gather(nil)
	r.appendFields(func(string) bool { return false })
}
