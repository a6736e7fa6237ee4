package http1

import (
	"net/http"
	"strconv"
	"strings"

	syntax "github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

// WriteHeader implements httpmessage.ResponseWriter.
func (r *response) WriteHeader(status int, reason string, fields httpmessage.Fields) {
	if status < http.StatusOK {
		r.WriteInterim(status, fields)
		return
	}
	if !r.begin(status) {
		return
	}
	w := r.work
	w.out = syntax.AppendStatusLine(w.out, status, reason)
	bodiless := status == http.StatusNoContent || status == http.StatusNotModified
	for i := range fields {
		f := &fields[i]
		switch len(f.Name) {
		case len("Date"):
			r.dated = r.dated || f.Is("Date")
		case len("Trailer"):
			r.trailed = r.trailed || f.Is("Trailer")
		case len("Connection"):
			if f.Is("Connection") && hasToken(f.Value, "close") {
				r.closes = true // which start says
				continue
			}
		case len("Content-Type"):
			if status == http.StatusNotModified && f.Is("Content-Type") {
				continue // RFC 9110 section 15.4.5
			}
		case len("Content-Length"):
			if f.Is("Content-Length") {
				if bodiless || !r.setLength(f.Value) {
					continue // RFC 9110 section 8.6
				}
			}
		case len("Transfer-Encoding"):
			if f.Is("Transfer-Encoding") {
				continue // the framing is that of this connection
			}
		}
		w.out = syntax.AppendFields(w.out, fields[i:i+1])
	}
	if r.head || bodiless {
		r.framing = framingNone
	}
}

// begin begins the final response, and reports false where that was begun.
func (r *response) begin(status int) bool {
	r.interim.Lock()
	defer r.interim.Unlock()
	if r.status != 0 || r.err != nil {
		return false
	}
	r.status = status
	return true
}

// setLength frames the content by the value of Content-Length, and reports false where that is not valid, or is a
// second one.
func (r *response) setLength(value string) bool {
	length, err := strconv.ParseUint(value, 10, 63)
	if err != nil || r.framing == framingLength {
		return false
	}
	r.framing, r.left = framingLength, int64(length) //nolint:gosec // it has 63 bits
	return true
}

// start completes the head, before a part of the content is sent. Where the content is whole, what was gathered is all
// of it.
func (r *response) start(whole bool) {
	if r.started {
		return
	}
	r.started = true
	w := r.work
	r.closes = r.closes || r.conn().Draining()
	if w.body != nil && !r.closes && !w.body.drain() {
		r.closes = true
	}
	if !r.dated {
		w.out = syntax.AppendField(w.out, "Date", w.conn.server.date.at(w.conn.server.config.Now()))
	}
	if whole {
		r.measure()
	}
	chunked := r.framing == framingOpen && r.minor > 0
	if r.framing == framingOpen {
		if r.framing = framingClose; chunked {
			r.framing = framingChunked
		}
	}
	r.closes = r.closes || r.framing == framingClose
	switch {
	case r.closes && r.minor > 0:
		w.out = append(w.out, "Connection: close\r\n"...)
	case !r.closes && r.minor == 0:
		w.out = append(w.out, "Connection: keep-alive\r\n"...)
	}
	if chunked {
		w.out = append(w.out, "Transfer-Encoding: chunked\r\n"...)
	}
	w.out = append(w.out, "\r\n"...)
	if content := w.content; len(content) > 0 {
		w.content = content[:0]
		r.append(content)
	}
}

// measure gives a content that is whole its length, unless trailers follow it, and the response to HEAD that of the
// content to GET.
func (r *response) measure() {
	length := int64(len(r.work.content))
	switch {
	case r.trailed && r.minor > 0:
		return
	case r.framing == framingOpen:
		r.framing, r.left = framingLength, 0
	case r.head && r.left < 0 && r.counted > 0:
		length = r.counted
	default:
		return
	}
	r.work.out = append(strconv.AppendInt(append(r.work.out, "Content-Length: "...), length, 10), "\r\n"...)
}

// finish ends the response, and reports whether another one may follow it.
func (r *response) finish() (persists bool) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK, "", nil)
	}
	if r.err != nil {
		return false
	}
	r.start(true)
	if r.framing == framingChunked {
		w := r.work
		w.out = append(append(append(w.out, "0\r\n"...), w.trailer...), "\r\n"...)
	}
	return !r.closes && (r.framing != framingLength || r.left == 0)
}

// SetTrailer implements httpmessage.ResponseWriter.
func (r *response) SetTrailer(fields httpmessage.Fields) {
	w := r.work
	w.trailer = w.trailer[:0]
	for i, f := range fields {
		if syntax.TrailerField(f.Canonical()) {
			w.trailer = syntax.AppendFields(w.trailer, fields[i:i+1])
		}
	}
	r.trailed = r.trailed || len(w.trailer) > 0
}

// WriteInterim implements httpmessage.ResponseWriter.
func (r *response) WriteInterim(status int, fields httpmessage.Fields) {
	r.interim.Lock()
	defer r.interim.Unlock()
	w := r.work
	interim := status >= http.StatusContinue && status < http.StatusOK && status != http.StatusSwitchingProtocols
	if r.status != 0 || r.err != nil || r.minor == 0 || !interim {
		return
	}
	if b := w.body; b != nil && status == http.StatusContinue {
		b.expects.Store(false)
	}
	w.out = syntax.AppendStatusLine(w.out, status, "")
	for i, f := range fields {
		if !f.Is("Content-Length") && !f.Is("Transfer-Encoding") { // RFC 9110 section 8.6, RFC 9112 section 6.1
			w.out = syntax.AppendFields(w.out, fields[i:i+1])
		}
	}
	w.out = append(w.out, "\r\n"...)
	r.err = w.conn.flush()
}

// proceed tells the client to send the content, before the final response.
func (r *response) proceed() { r.WriteInterim(http.StatusContinue, nil) }

// hasToken reports whether a list has a token: RFC 9110 section 5.6.1.
func hasToken(list, token string) bool {
	if len(list) == len(token) {
		return strings.EqualFold(list, token)
	}
	for element := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.Trim(element, " \t"), token) {
			return true
		}
	}
	return false
}
