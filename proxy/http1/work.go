package http1

import (
	"sync"

	"github.com/urnd/urnd/internal/httpmessage"
)

// work is what the requests of a connection need while they are under way. It is pooled.
type work struct {
	in         *buffer // nil while a request waits that has left nothing in it
	start, end int     // of what was read, and not used
	request    httpmessage.Incoming
	response   response
	body       *body // of the request, nil for none
	// continuation is the rest of the request, nil for none.
	continuation httpmessage.Continuation

	out     []byte   // responses that are to be written
	content []byte   // of a response whose framing is not known
	trailer []byte   // of a response
	vector  [][]byte // of a write

	inUse, begun bool  // something has come, and a request has begun, since it was waited for
	next         state // behind received
	// received is that of the connection, for ReadEach: made once.
	received func(n int) bool
	conn     *connection
}

// buffer is memory that is read into.
type buffer struct{ data []byte }

// The sizes of buffers, in bytes: of reads, and those of which each is twice the one before.
const (
	readSize    = 4 << 10
	bufferSizes = 9 // up to 1 MiB
)

// The most that is kept for the next request: bytes, and fields of a head or parts of a content.
const (
	maxKept      = 128 << 10
	maxKeptParts = 128
)

// memory pools what requests need. The zero value is ready. It is safe for concurrent use.
type memory struct {
	works   sync.Pool // of *work
	buffers [bufferSizes]sync.Pool
}

// buffer returns a buffer of at least size bytes.
func (m *memory) buffer(size int) *buffer {
	class, length := 0, readSize
	for length < size {
		class++
		length *= 2
	}
	if class < bufferSizes {
		if b, ok := m.buffers[class].Get().(*buffer); ok {
			return b
		}
	}
	return &buffer{make([]byte, length)}
}

// putBuffer gives a buffer back, whose content is not used any more.
func (m *memory) putBuffer(b *buffer) {
	class := 0
	for length := readSize; length < len(b.data); length *= 2 {
		class++
	}
	if class < bufferSizes {
		m.buffers[class].Put(b)
	}
}

// work returns the work of a connection.
func (m *memory) work(c *connection) *work {
	w, ok := m.works.Get().(*work)
	if !ok {
		w = new(work)
		w.received = func(n int) bool { return w.conn.received(n) }
	}
	w.conn, w.request.Conn, w.response.work = c, c, w
	return w
}

// put gives a work back, of which nothing is used any more.
func (m *memory) put(w *work) {
	if w.in != nil {
		m.putBuffer(w.in)
	}
	w.request.Reset()
	w.request.Conn = nil
	if cap(w.request.Fields) > maxKeptParts {
		w.request.Fields = nil
	}
	if cap(w.vector) > maxKeptParts {
		w.vector = nil
	}
	clear(w.vector[:cap(w.vector)])
	w.in, w.start, w.end, w.body, w.continuation, w.conn, w.response.work = nil, 0, 0, nil, nil, nil, nil
	w.out, w.content, w.trailer, w.vector = keep(w.out), keep(w.content), keep(w.trailer), w.vector[:0]
	w.response.forget()
	m.works.Put(w)
}

// keep returns memory for the next response, nil where it is too much.
func keep(b []byte) []byte {
	if cap(b) > maxKept {
		return nil
	}
	return b[:0]
}

// ensureBuffer makes the buffer one of the size of reads, where nothing is in it.
func (w *work) ensureBuffer(m *memory) {
	if w.start < w.end {
		return
	}
	w.start, w.end = 0, 0
	if w.in != nil && len(w.in.data) == readSize {
		return
	}
	if w.in != nil {
		m.putBuffer(w.in)
	}
	w.in = m.buffer(readSize)
}

// leaveBuffer gives the buffer up while a request waits, where nothing is in it.
func (w *work) leaveBuffer(m *memory) {
	if w.start == w.end && w.in != nil {
		m.putBuffer(w.in)
		w.in, w.start, w.end = nil, 0, 0
	}
}
