package http1

import (
	"net/http"
	"strconv"

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
	for i := range fields {
		if r.takes(&fields[i]) {
			w.out = syntax.AppendFields(w.out, fields[i:i+1])
		}
	}
	if r.head || r.bodiless() {
		r.framing = framingNone
	}
}

// bodiless reports whether a response with this status has no content: RFC 9110 sections 15.3.5 and 15.4.5.
func (r *response) bodiless() bool {
	return r.status == http.StatusNoContent || r.status == http.StatusNotModified
}

// takes processes a field that concerns the framing, and reports whether it is sent. It compares only names
// of matching length.
func (r *response) takes(f *httpmessage.Field) bool {
	switch len(f.Name) {
	case len("Date"):
		r.dated = r.dated || f.HasName("Date")
	case len("Trailer"):
		r.trailed = r.trailed || f.HasName("Trailer")
	case len("Connection"):
		if f.HasName("Connection") && syntax.HasToken(f.Value, "close") {
			r.closes = true // frame adds the field
			return false
		}
	case len("Content-Type"): // of the representation; caches have it already: RFC 9110 section 15.4.5
		return r.status != http.StatusNotModified || !f.HasName("Content-Type")
	case len("Content-Length"): // RFC 9110 section 8.6
		return !f.HasName("Content-Length") || !r.bodiless() && r.setLength(f.Value)
	case len("Transfer-Encoding"): // the framing is that of this connection
		return !f.HasName("Transfer-Encoding")
	}
	return true
}

// begin begins the final response, and reports false if it has begun already.
func (r *response) begin(status int) bool {
	r.interim.Lock()
	defer r.interim.Unlock()
	if r.status != 0 || r.err != nil {
		return false
	}
	r.status = status
	return true
}

// setLength sets the framing to the value of Content-Length, and reports false if it is invalid or repeated.
func (r *response) setLength(value string) bool {
	length, err := strconv.ParseUint(value, 10, 63)
	if err != nil || r.framing == framingLength {
		return false
	}
	r.framing, r.left = framingLength, int64(length)
	return true
}

// start completes the header section before a part of the content is sent. whole is whether the buffered
// content is complete.
func (r *response) start(whole bool) {
	if r.started {
		return
	}
	r.started = true
	w := r.work
	r.closes = r.closes || r.conn().Draining() || r.refusesTunnel()
	if w.body != nil && !r.closes && !w.body.drain() {
		r.closes = true
	}
	if !r.dated {
		w.out = syntax.AppendField(w.out, "Date", w.conn.server.date.At(w.conn.server.config.Now()))
	}
	if whole {
		r.measure()
	}
	r.frame()
	w.out = append(w.out, "\r\n"...)
	content := [1][]byte{w.content}
	r.append(len(w.content), content[:])
	w.content = w.content[:0]
}

// refusesTunnel reports whether the client has sent data after a CONNECT without waiting for the response: it
// is tunnel data, not a request.
func (r *response) refusesTunnel() bool {
	w := r.work
	return w.request.Method == http.MethodConnect && w.body == nil && w.start < w.end
}

// frame selects the framing of the content, and whether the connection persists: RFC 9112 sections 6.3 and 9.3.
func (r *response) frame() {
	w := r.work
	chunked := r.framing == framingOpen && r.minor > 0
	switch {
	case chunked:
		r.framing = framingChunked
	case r.framing == framingOpen:
		r.framing, r.closes = framingClose, true
	}
	switch {
	case r.closes: // also for HTTP/1.0, whose clients may infer persistence from an HTTP/1.1 status line
		w.out = append(w.out, "Connection: close\r\n"...)
	case !r.closes && r.minor == 0:
		w.out = append(w.out, "Connection: keep-alive\r\n"...)
	}
	if chunked {
		w.out = append(w.out, "Transfer-Encoding: chunked\r\n"...)
	}
}

// measure adds Content-Length to complete content, unless trailers follow it, and to a response to HEAD the
// length of the content of GET.
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

// finish ends the response, and reports whether the connection persists.
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
		// RFC 9110 section 8.6, RFC 9112 section 6.1
		if !f.HasName("Content-Length") && !f.HasName("Transfer-Encoding") {
			w.out = syntax.AppendFields(w.out, fields[i:i+1])
		}
	}
	w.out = append(w.out, "\r\n"...)
	r.err = w.conn.flush()
}

// proceed sends 100 (Continue), before the final response.
func (r *response) proceed() { r.WriteInterim(http.StatusContinue, nil) }
