package http1

import (
	"sync"

	"github.com/urnd/urnd/internal/httpmessage"
)

// work has the resources that the requests of a connection need while they are in progress. It is pooled.
type work struct {
	in         *buffer // nil during a Continuation, if the buffer was empty
	start, end int     // of the unprocessed data
	request    httpmessage.Incoming
	response   response
	body       *body // of the request, nil for none
	// continuation is the Continuation of the request, nil for none.
	continuation httpmessage.Continuation

	out     []byte   // output buffer of responses
	content []byte   // of a response whose framing is not decided
	trailer []byte   // of a response
	vector  [][]byte // of a write

	inUse, begun bool  // since the last wait, data was received, and a request has begun
	next         state // the result of received
	// received is the method of the connection, as a function value created once, for ReadEach.
	received func(n int) bool
	conn     *connection
}

// buffer is a read buffer.
type buffer struct{ data []byte }

// The sizes of buffers, in bytes: the smallest one, for reads; each further size is twice the previous one.
const (
	readSize    = 4 << 10
	bufferSizes = 9 // up to 1 MiB
)

// Limits of what is retained for the next request: bytes, and fields of a header or parts of a content.
const (
	maxKept      = 128 << 10
	maxKeptParts = 128
)

// memory pools the resources of requests. The zero value is ready to use. It is safe for concurrent use.
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

// putBuffer returns an unused buffer to the pool.
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

// put returns an unused work to the pool.
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

// keep returns an emptied buffer for the next response, nil if it is too large.
func keep(b []byte) []byte {
	if cap(b) > maxKept {
		return nil
	}
	return b[:0]
}

// ensureBuffer makes the buffer one of readSize, if it is empty.
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

// leaveBuffer releases an empty buffer while a request waits.
func (w *work) leaveBuffer(m *memory) {
	if w.start == w.end && w.in != nil {
		m.putBuffer(w.in)
		w.in, w.start, w.end = nil, 0, 0
	}
}
