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
// one, before any handler sees them. So the head is scanned while it is read, except that of GET
// and HEAD, which have no body. That is sure only of the first one of a connection: a later one may
// have come, in part, with the request before it. So a later request with a transfer coding counts
// as one with both, and the connection of a later one by HTTP/1.0 ends with it.

// head finds the fields for the framing of a body in the head of a request. Only the goroutine of
// the connection scans, and reads what was found.
type head struct {
	active  atomic.Bool // the head has not ended
	scanned bool        // it has
	coded   bool        // it has Transfer-Encoding
	// isChunked is whether chunked is the last transfer coding.
	isChunked bool
	length    bool // it has Content-Length
	// isBodiless is whether it is that of a GET or HEAD, of which only control is of use.
	isBodiless bool
	control    atomic.Int32 // see pragma.go; a background read of net/http may begin the next head
	line       []byte       // the beginning of the present line
	cut        bool         // it is longer
}

const (
	codingField = "transfer-encoding"
	lengthField = "content-length"
)

// reset is called when the connection is idle.
func (h *head) reset() {
	h.active.Store(false)
	h.scanned, h.coded, h.length, h.isChunked = false, false, false, false
	h.control.Store(controlUnknown)
}

// begin is called with the request line.
func (h *head) begin(line []byte) {
	h.reset()
	h.line, h.cut = h.line[:0], false
	line = bytes.TrimRight(line, "\r")
	h.isBodiless = (bytes.HasPrefix(line, []byte("GET ")) || bytes.HasPrefix(line, []byte("HEAD "))) && !bytes.HasSuffix(line, []byte(" HTTP/1.0"))
	if isRequestLine(line) {
		h.control.Store(controlMissing)
	}
	h.active.Store(true)
}

// scan reads octets behind the request line.
func (h *head) scan(p []byte) {
	for h.active.Load() && len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		const enough = 256 // for codings
		room := max(enough-len(h.line), 0)
		h.line = append(h.line, part[:min(len(part), room)]...)
		h.cut = h.cut || len(part) > room
		if end < 0 {
			return
		}
		p = p[end+1:]
		if name, value, isField := bytes.Cut(h.line, []byte(":")); isField {
			h.field(name, value)
		} else if !h.cut && len(bytes.TrimRight(h.line, "\r")) == 0 {
			h.active.Store(false)
			h.scanned = !h.isBodiless
		}
		h.line, h.cut = h.line[:0], false
	}
}

// field records a field, whose value may be cut off.
func (h *head) field(name, value []byte) {
	switch {
	case bytes.EqualFold(name, []byte(codingField)):
		last := value[bytes.LastIndexByte(value, ',')+1:]
		h.coded, h.isChunked = true, !h.cut && bytes.EqualFold(bytes.TrimSpace(last), []byte("chunked"))
	case bytes.EqualFold(name, []byte(lengthField)):
		h.length = true
	case bytes.EqualFold(name, []byte(controlName)):
		h.control.Store(controlSent)
	}
}

// checkCoding makes the connection of a request end where its framing may be another one for who
// sent it, and answers the request if it is faulty, or of another version. first is whether it is the first one of its
// connection.
func (s *Server) checkCoding(w http.ResponseWriter, r *http.Request, conn *requestConn, first bool) (answered bool) {
	if s.checkVersion(w, r, conn) {
		return true
	}
	old := r.ProtoMajor == 1 && r.ProtoMinor == 0
	coded := r.ProtoMajor == 1 && len(r.TransferEncoding) > 0
	faulty := old && conn != nil && conn.head.coded
	if faulty || (old || coded) && (!first || !conn.head.scanned || conn.head.length && coded) {
		w.Header().Set("Connection", "close")
	}
	if !faulty {
		return false
	}
	s.refuse(w, r, http.StatusBadRequest, "a request by HTTP/1.0 has no Transfer-Encoding")
	return true
}

// checkVersion refuses the connection preface of HTTP/2 behind a request by HTTP/1, which net/http gives to a handler.
func (s *Server) checkVersion(w http.ResponseWriter, r *http.Request, conn *requestConn) (answered bool) {
	if r.ProtoMajor == 1 || conn == nil || conn.http2.Load() != nil {
		return false
	}
	s.refuse(w, r, http.StatusHTTPVersionNotSupported, "")
	return true
}

// refuse answers a request that is malformed, and ends its connection.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, reason string) {
	w.Header().Set("Connection", "close")
	d := s.config.Malformed(Malformed{Status: status, Reason: reason, Method: r.Method, Target: r.RequestURI})
	if s.config.Refused != nil {
		s.config.Refused(d.Status)
	}
	w.Header().Set("Content-Type", d.ContentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(d.Body)))
	w.WriteHeader(d.Status)
	_, _ = w.Write(d.Body) // it fails only where the client left
}
