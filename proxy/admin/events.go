package admin

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
)

const (
	// maxSubscribers bounds who follows the events at a time: each has the figures made every second.
	maxSubscribers = 8
	// eventInterval is the time from one event to the next, or to a comment: by it proxies and clients learn that the connection
	// lives, and urnd that a client has left, which is one of the subscribers until then. That it has ended its side does not say so
	// (proxy/listen/halfclosed.go).
	eventInterval = time.Second
	// eventTimeout is how long a client may take to read an event.
	eventTimeout = 10 * time.Second
)

var errSubscribers = fmt.Errorf("%w: %d pages follow the events already", resolver.ErrBusy, maxSubscribers)

// Leave ends the streams of events: the handler is replaced by another one, to which clients come again, or urnd stops. It may be
// called more than once.
func (h *Handler) Leave() { h.leave.Do(func() { close(h.left) }) }

// serveEvents sends the figures of the page of the state as they change (server-sent events: section 9.2 of the HTML standard).
func (h *Handler) serveEvents(w http.ResponseWriter, r *http.Request) {
	if !h.subscribers.TryAcquire() {
		h.fail(w, r, errSubscribers)
		return
	}
	defer h.subscribers.Release()
	reply := message.Reply{
		Status: http.StatusOK, ContentType: "text/event-stream", CacheControl: message.NoStore,
	}
	if r.ProtoMajor == 1 { // the deadline of the last event is still that of the connection at the end: no other request may follow
		reply.Fields.Set("Connection", "close")
	}
	reply.Stream = func(to message.Stream) error {
		s := eventStream{to: to, control: http.NewResponseController(w), deadline: h.config.Status.Deadline}
		return h.follow(r, &s)
	}
	h.write(w, r, reply)
}

// follow sends events until the client or the server ends the stream.
func (h *Handler) follow(r *http.Request, s *eventStream) error {
	ticks, stop := h.config.Status.Ticks(eventInterval)
	defer stop()
	const retry = "retry: 3000\n" // milliseconds, until a client whose stream has ended comes again
	if err := s.write([]byte(retry + "\n")); err != nil {
		return err
	}
	for {
		if err := s.figures(h.figures()); err != nil {
			return err
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-h.left:
			return nil
		case <-ticks:
		}
	}
}

// figures returns what the page shows, as JSON in one line.
func (h *Handler) figures() []byte {
	return bytes.TrimSpace(message.Line(newLive(h.config.Status.State())))
}

// eventStream are the events that one client is sent.
type eventStream struct {
	to       message.Stream
	control  *http.ResponseController
	deadline func(after time.Duration) time.Time
	number   int    // of the last event
	last     []byte // its figures
}

// figures sends figures where they are others than the last ones, and else a comment.
func (s *eventStream) figures(figures []byte) error {
	if !bytes.Equal(figures, s.last) {
		s.number++
		s.last = figures
		return s.write(fmt.Appendf(nil, "id: %d\ndata: %s\n\n", s.number, figures))
	}
	return s.write([]byte(": nothing has changed\n\n"))
}

// write sends some lines at once.
func (s *eventStream) write(lines []byte) error {
	_ = s.control.SetWriteDeadline(s.deadline(eventTimeout)) // what does not support it is a test
	if _, err := s.to.Write(lines); err != nil {
		return err //nolint:wrapcheck // it ends the connection, and is not told
	}
	return s.to.Flush() //nolint:wrapcheck // as above
}
