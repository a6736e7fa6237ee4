package proxy

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/resolver"
)

// Event is what came of one request. It is of use until Observe returns.
type Event struct {
	Request *http.Request
	Client  netip.Addr // the zero value where it has none
	Form    string     // how the question was put: "path", "thttp", "forward" ...
	Service resolver.Service
	Cache   resolver.CacheState
	Status  int    // 0 where the client left before there was one
	Bytes   int64  // of the body
	Type    string // of it
	Took    time.Duration
	ID      string // of the request; "" where it was given none
	Err     error  // why it failed, nil where it did not
}

// recorder is a ResponseWriter that notes what becomes of a request.
type recorder struct {
	http.ResponseWriter
	event Event
}

// WriteHeader implements http.ResponseWriter. Interim responses are none yet.
func (r *recorder) WriteHeader(status int) {
	if r.event.Status == 0 && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		r.event.Status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	if r.event.Status == 0 {
		r.event.Status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.event.Bytes += int64(n)
	return n, err //nolint:wrapcheck // it stands for the writer that it wraps
}

// Hijack is for http.ResponseController: the protocol is changed.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil {
		r.event.Status = http.StatusSwitchingProtocols
	}
	return conn, rw, err //nolint:wrapcheck // it stands for the writer that it wraps
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// eventOf returns the event of a response that is under way. A writer that is no
// recorder has one of which nobody hears.
func eventOf(w http.ResponseWriter) *Event {
	if r, ok := w.(*recorder); ok {
		return &r.event
	}
	return new(Event)
}

// ServeHTTP implements http.Handler, and tells Observe what came of it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.RemoteAddr == probeAddr: // it came this far, and nobody is to hear of it
		w.WriteHeader(http.StatusNoContent)
		return
	case h.config.Observe == nil:
		h.route(w, r, h.config.Access.clientOf(r))
		return
	}
	from := h.config.Access.clientOf(r)
	rec, _ := h.recorders.Get().(*recorder)
	if rec == nil {
		rec = new(recorder)
	}
	start := h.config.Now()
	*rec = recorder{ResponseWriter: w, event: Event{Request: r, Form: "none", Client: from.addr}}
	if h.config.Identify {
		rec.event.ID = h.identify(w, r)
	}
	whole := false
	defer func() {
		if !whole { // the handler broke off, by a panic
			breakOff(w)
		}
		switch event := &rec.event; {
		case errors.Is(event.Err, context.Canceled) && r.Context().Err() != nil:
			event.Status = 0 // what was written after that, nobody reads
		case whole && event.Status == 0:
			event.Status = http.StatusOK // net/http says so, of a response that is empty
		}
		rec.event.Took = h.config.Now().Sub(start)
		rec.event.Type = w.Header().Get("Content-Type")
		h.config.Observe(&rec.event)
		*rec = recorder{}
		h.recorders.Put(rec)
	}()
	h.traced(rec, r, from, start)
	whole = true
}
