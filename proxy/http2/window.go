package http2

// inflow is a window that the client has for content: RFC 9113 section 5.2.
type inflow struct {
	available int64 // what it may send
	unsent    int64 // what it may send more, and was not told yet
}

// take takes what the client has sent, and reports false where that is more than it may send.
func (w *inflow) take(n int64) bool {
	w.available -= n
	return w.available >= 0
}

// give gives back what was read, and returns by how much the client is to be told that the window is larger: for little
// it is not worth a frame.
func (w *inflow) give(n int64) (increment int64) {
	const few = receiveWindow / 8
	w.unsent += n
	if w.unsent < few && w.unsent < w.available {
		return 0
	}
	increment = w.unsent
	w.available += increment
	w.unsent = 0
	return increment
}
