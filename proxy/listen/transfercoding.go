package listen

import (
	"bytes"
	"net/http"
	"strconv"
	"sync/atomic"
)

// RFC 9112 section 6.1: a request with both Transfer-Encoding and Content-Length may be an attempt
// at smuggling another one, and its connection is closed after the response; and one by HTTP/1.0
// with Transfer-Encoding has faulty framing. net/http removes the one field, and ignores the other
// one, before any handler sees them. So the connection of each request with a transfer coding is
// closed, and each by HTTP/1.0, which has a connection of its own; the head of that is scanned while
// it is read.

// oldHead finds Transfer-Encoding in the head of a request by HTTP/1.0.
type oldHead struct {
	active atomic.Bool // the request line was one of HTTP/1.0, and the head has not ended
	coded  atomic.Bool // it has the field
	line   []byte      // the beginning of the present line
}

const codingField = "transfer-encoding"

// begin is called with the request line.
func (h *oldHead) begin(line []byte) {
	h.line = h.line[:0]
	h.coded.Store(false)
	h.active.Store(bytes.HasSuffix(bytes.TrimRight(line, "\r"), []byte(" HTTP/1.0")))
}

// scan reads octets behind the request line.
func (h *oldHead) scan(p []byte) {
	for h.active.Load() && len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		const enough = len(codingField) + 1
		h.line = append(h.line, part[:min(len(part), max(enough-len(h.line), 0))]...)
		if end < 0 {
			return
		}
		p = p[end+1:]
		line := bytes.TrimRight(h.line, "\r")
		name, _, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0:
			h.active.Store(false)
		case bytes.EqualFold(bytes.TrimRight(name, " \t"), []byte(codingField)):
			h.coded.Store(true)
		}
		h.line = h.line[:0]
	}
}

// checkCoding makes the connection of a request end where its framing may be another one for who
// sent it, and answers the request if it is faulty. first is whether it is the first one of its
// connection.
func (s *Server) checkCoding(w http.ResponseWriter, r *http.Request, conn *requestConn, first bool) (answered bool) {
	old := r.ProtoMajor == 1 && r.ProtoMinor == 0
	if old || r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
		w.Header().Set("Connection", "close")
	}
	if !old || conn == nil || first && !conn.old.coded.Load() {
		return false
	}
	reason := "a request by HTTP/1.0 has no Transfer-Encoding"
	if !first {
		reason = "a request by HTTP/1.0 has a connection of its own"
	}
	d := s.config.Malformed(Malformed{Status: http.StatusBadRequest, Reason: reason, Method: r.Method, Target: r.RequestURI})
	if s.config.Refused != nil {
		s.config.Refused(d.Status)
	}
	w.Header().Set("Content-Type", d.ContentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(d.Body)))
	w.WriteHeader(d.Status)
	_, _ = w.Write(d.Body) // it fails only where the client left
	return true
}
