package http

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

const (
	chunkHead  = 16 // bytes before the data of a chunk: its size, CRLF
	chunkEnd   = 2  // bytes after the data of a chunk: CRLF
	bodyBuffer = chunkHead + 32<<10 + chunkEnd
	// maxEmptyReads is the maximum number of consecutive reads with neither bytes nor an error.
	maxEmptyReads = 100
	// lastWrite is the timeout for the last bytes of a body after its response has ended.
	lastWrite = 50 * time.Millisecond
)

// sender sends the body of a request in its own goroutine while the response is read: RFC 9112 section 9.5. A
// nil sender has no body.
type sender struct {
	*exchange
	go100   chan bool // whether a delayed body may be sent
	quit    chan struct{}
	done    chan struct{}
	stopped sync.Once
	last    atomic.Bool // the body was read to its end, the last bytes are being written
	// state is the state of the body, changed by compare-and-swap: a body that another attempt may send is never
	// closed.
	state   atomic.Int32
	aborted atomic.Bool
	failed  atomic.Pointer[error] // the error of reading the body
	whole   bool                  // the body was sent completely; valid after done
}

// The states of a body.
const (
	bodyIdle      int32 = iota // neither started nor abandoned
	bodyReading                // reading has started
	bodyAbandoned              // abandoned before reading started
)

func newSender(x *exchange) *sender {
	s := &sender{exchange: x, go100: make(chan bool, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go s.run()
	return s
}

func (s *sender) run() {
	defer close(s.done)
	if s.request.expects && !s.allowed() {
		return
	}
	if !s.state.CompareAndSwap(bodyIdle, bodyReading) {
		return
	}
	s.request.started = true
	buffer, _ := s.handler.buffers.Get().(*[]byte)
	defer s.handler.buffers.Put(buffer)
	err := s.send(*buffer)
	s.whole = err == nil
	s.awaitHead() // also after an error: the origin may have sent the reason
}

// allowed waits until the body may be sent: RFC 9110 section 10.1.1.
func (s *sender) allowed() bool {
	if s.handler.config.ContinueTimeout == 0 {
		return true
	}
	timer := time.NewTimer(s.handler.config.ContinueTimeout)
	defer timer.Stop()
	select {
	case ok := <-s.go100:
		return ok
	case <-timer.C:
		return true
	case <-s.quit:
		return false
	}
}

// proceed ends the delay of the body; ok sends it.
func (s *sender) proceed(ok bool) {
	if s == nil {
		return
	}
	select {
	case s.go100 <- ok:
	default: // an earlier response has decided
	}
}

// fail cancels the exchange because reading the body failed.
func (s *sender) fail(err error) error {
	if !s.aborted.Load() {
		s.failed.CompareAndSwap(nil, &err)
		s.cancel()
	}
	return err
}

// failure returns the error of reading the body, nil for none.
func (s *sender) failure() error {
	if s == nil {
		return nil
	}
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// send sends the body with its framing: RFC 9112 sections 6.2 and 7.1.
func (s *sender) send(buffer []byte) error {
	left := s.request.length
	for left != 0 {
		data := buffer[chunkHead : len(buffer)-chunkEnd]
		if left > 0 {
			data = data[:min(int64(len(data)), left)]
		}
		n, err := s.read(data)
		if left > 0 {
			left -= int64(n)
			s.last.Store(left == 0)
		}
		if n > 0 {
			if err := s.write(buffer, n); err != nil {
				return err
			}
		}
		switch {
		case left == 0:
		case errors.Is(err, io.EOF) && left < 0:
			return s.sendTrailer(buffer[:0])
		case err != nil:
			return s.fail(unexpectedEOF(err))
		}
	}
	return nil
}

// read reads at least one byte, or returns an error.
func (s *sender) read(data []byte) (int, error) {
	for range maxEmptyReads {
		if n, err := s.request.Body.Read(data); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// write writes n bytes of the body, which follow the space for the chunk head in buffer.
func (s *sender) write(buffer []byte, n int) error {
	start, end := chunkHead, chunkHead+n
	if s.request.length < 0 {
		var array [chunkHead]byte
		size := http1.AppendChunkSize(array[:0], n)
		start -= copy(buffer[chunkHead-len(size):], size)
		end += copy(buffer[end:], "\r\n")
	}
	if _, err := s.Write(buffer[start:end]); err != nil {
		return fmt.Errorf("sending the body: %w", err)
	}
	return nil
}

// sendTrailer sends the last chunk and the trailer section: RFC 9112 section 7.1.2.
func (s *sender) sendTrailer(b []byte) error {
	var fields httpmessage.Fields
	if trailer := s.request.Trailer; trailer != nil {
		fields = trailer.Fields
	}
	if err := checkFields(fields); err != nil {
		return s.fail(err)
	}
	s.last.Store(true)
	if _, err := s.Write(http1.AppendLastChunk(b, fields)); err != nil {
		return fmt.Errorf("sending the trailers: %w", err)
	}
	return nil
}

// sent reports whether the body was sent completely. With wait it waits up to lastWrite for the last bytes.
func (s *sender) sent(wait bool) bool {
	if s == nil {
		return true
	}
	if wait && s.last.Load() {
		_ = s.SetWriteDeadline(s.handler.config.Now().Add(lastWrite))
		<-s.done
	}
	select {
	case <-s.done:
		return s.whole
	default:
		return false
	}
}

// abort stops sending on a closed connection, and waits for the goroutine. A body whose reading has not started
// is left open, so that a retry can send it.
func (s *sender) abort() {
	if s == nil {
		return
	}
	s.aborted.Store(true)
	s.stopped.Do(func() { close(s.quit) })
	if !s.state.CompareAndSwap(bodyIdle, bodyAbandoned) && s.state.Load() == bodyReading {
		closeBody(s.request.Body)
	}
	<-s.done
}
