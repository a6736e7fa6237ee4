package listen

import "encoding/binary"

// What is answered before net/http uses the flow-control window of the connection (RFC 9113 section 6.9), of which net/http must not
// know then. So the window is divided: of what the client adds to it net/http is told a part, and the rest is for the answers. If
// net/http has used what it knows of, it gets the rest too: no client need open a window before it is used up.

// windows are the parts of the window by which the server may send on a connection, in octets.
type windows struct {
	known    int64 // to net/http
	reserved int64
	due      int64 // a part of known of which net/http is still to be told
}

const (
	// initialWindow is the size of windows until the client says another one: RFC 9113 section 6.9.2.
	initialWindow = 65535
	maxWindow     = 1<<31 - 1
)

// add takes an increment of the client, and returns how much of it net/http is told, up to 0: half of what the window has then, and
// what it has of a connection whose window is never greater than in the beginning. ok is false where it becomes too large.
func (w *windows) add(increment int64) (told int64, ok bool) {
	whole := w.known + w.reserved + increment
	if whole > maxWindow {
		return 0, false
	}
	told = min(increment, max(0, (whole+1)/2-w.known, min(whole, initialWindow)-w.known))
	w.known += told
	w.reserved += increment - told
	return told, true
}

// use takes so much for an answer.
func (w *windows) use(n int64) { w.reserved -= n }

// sent is called with what net/http has sent, and reports whether it is to be told of more.
func (w *windows) sent(n int64) bool {
	w.known -= n
	if w.known >= initialWindow || w.reserved == 0 {
		return false
	}
	more := w.reserved
	if more > 2*initialWindow {
		more /= 2
	}
	w.reserved -= more
	w.known += more
	w.due += more
	return true
}

// tellAll tells net/http of all that there is, and reports whether that is more.
func (w *windows) tellAll() bool {
	more := w.reserved
	w.reserved, w.known, w.due = 0, w.known+more, w.due+more
	return more > 0
}

// takeDue returns of what net/http is to be told now, 0 for nothing.
func (w *windows) takeDue() int64 {
	due := w.due
	w.due = 0
	return due
}

// appendUpdate appends a WINDOW_UPDATE frame for the connection: RFC 9113 section 6.9.
func appendUpdate(dst []byte, increment int64) []byte {
	dst = appendHead(dst, windowUpdateLength, frameWindowUpdate, 0, 0)
	return binary.BigEndian.AppendUint32(dst, uint32(increment)) //nolint:gosec // a window has less than 2^31 octets
}
