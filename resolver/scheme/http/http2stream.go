package http

import (
	"context"
	"net/http"
	"net/textproto"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// interimRelay forwards the interim responses of a stream in a goroutine of its own. The library reports them in the
// goroutine that reads for all streams of the connection, which a slow client must not block.
type interimRelay struct {
	request *request
	done    sync.WaitGroup

	mu    sync.Mutex
	heads chan interimHead // has capacity for all of them; nil for none yet
	count int
	ended bool
}

type interimHead struct {
	status int
	fields httpmessage.Fields
}

// add adds an interim response. It does not block.
func (i *interimRelay) add(status int, header textproto.MIMEHeader) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.count++; i.count > maxInterim {
		return invalid("more than %d interim responses", maxInterim)
	}
	if i.ended { // the library may still read for a request that was canceled
		return nil
	}
	if i.heads == nil {
		heads := make(chan interimHead, maxInterim)
		i.heads = heads
		i.done.Go(func() { i.forward(heads) })
	}
	i.heads <- interimHead{status, httpmessage.FromHeader(http.Header(header))}
	return nil
}

func (i *interimRelay) forward(heads <-chan interimHead) {
	for head := range heads {
		i.request.interim(head.status, head.fields)
	}
}

// end waits until all interim responses are forwarded. Later ones are dropped.
func (i *interimRelay) end() {
	i.mu.Lock()
	i.ended = true
	if i.heads != nil {
		close(i.heads)
	}
	i.mu.Unlock()
	i.done.Wait()
}

// stallTimer cancels an HTTP/2 stream whose response is being read, if nothing was read or sent on it for a time. The
// idle timeout of the connection does not: other streams may keep it active. A nil timer does nothing.
type stallTimer struct {
	timeout time.Duration
	cancel  context.CancelFunc

	mu      sync.Mutex
	timer   *time.Timer // nil before the first read
	reading bool
	missed  int // calls of expire that came too late: the timer was stopped at the same time
	expired bool
}

// begin starts the timeout of a read.
func (s *stallTimer) begin() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = true
	switch {
	case s.expired:
	case s.timer == nil:
		s.timer = time.AfterFunc(s.timeout, s.expire)
	default:
		s.timer.Reset(s.timeout)
	}
}

// sent restarts the timeout of a pending read: an origin that accepts data is not idle.
func (s *stallTimer) sent() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading && !s.expired {
		s.stop()
		s.timer.Reset(s.timeout)
	}
}

// end stops the timeout of a read, and reports whether it has expired.
func (s *stallTimer) end() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = false
	if !s.expired {
		s.stop()
	}
	return s.expired
}

// stop stops the running timer; s.mu is held.
func (s *stallTimer) stop() {
	if !s.timer.Stop() {
		s.missed++
	}
}

// expire cancels the stream.
func (s *stallTimer) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missed > 0 {
		s.missed--
		return
	}
	s.expired = true
	s.cancel()
}
