package listen

import (
	"bytes"
	"net/http"
	"strconv"
)

// SetReason sets the words of a status that a request will be answered with, by HTTP/1.1: net/http
// sends words of its own, which are none of those that an origin has sent. reason must have no
// line end. It is called before WriteHeader, by the handler of the request.
func SetReason(r *http.Request, status int, reason string) {
	conn, _ := r.Context().Value(connKey{}).(*requestConn)
	if conn == nil || r.ProtoMajor != 1 || reason == http.StatusText(status) {
		return
	}
	conn.reason = reasonPhrase{status: strconv.Itoa(status), words: reason}
}

// reasonPhrase is the words of a status that is yet to be sent.
type reasonPhrase struct{ status, words string }

// replace returns a response with the words, and whether it begins with that status.
func (r reasonPhrase) replace(p []byte) ([]byte, bool) {
	const version = len("HTTP/1.1 ")
	if len(p) < version+len(r.status) || !bytes.HasPrefix(p, []byte("HTTP/1.")) || string(p[version:version+len(r.status)]) != r.status {
		return p, false
	}
	end := bytes.Index(p, []byte("\r\n"))
	if end < 0 {
		return p, false
	}
	changed := append([]byte(nil), p[:version+len(r.status)]...)
	changed = append(append(changed, ' '), r.words...)
	return append(changed, p[end:]...), true
}
