package listen

import (
	"bytes"
	"net/http"
	"slices"
)

// net/http gives a request by HTTP/1 with "Pragma: no-cache" and without Cache-Control a "Cache-Control: no-cache", which
// its client has not sent. RFC 9111 section 5.4 leaves to a cache what Pragma means; a request that is passed on stays as it
// is (RFC 9110 section 7.7).

// Whether a head that was read has the field Cache-Control.
const (
	controlUnknown int32 = iota // its beginning was not seen: it came with the request before it
	controlMissing
	controlSent
)

const controlName = "cache-control"

// isRequestLine reports whether a line, without its end, is a whole request line: RFC 9112 section 3.
func isRequestLine(line []byte) bool {
	method, _, ok := bytes.Cut(line, []byte(" "))
	return ok && len(method) > 0 && bytes.IndexByte(method, ':') < 0 && (bytes.HasSuffix(line, []byte(" HTTP/1.1")) || bytes.HasSuffix(line, []byte(" HTTP/1.0")))
}

// dropMadeControl removes Cache-Control from a request whose client has sent none.
func (c *requestConn) dropMadeControl(r *http.Request) {
	if r.ProtoMajor == 1 && len(r.Header["Pragma"]) > 0 && slices.Equal(r.Header["Cache-Control"],
		[]string{"no-cache"}) && c.head.control.Load() == controlMissing {
		delete(r.Header, "Cache-Control")
	}
}
