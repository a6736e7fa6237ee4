package proxy

import (
	"net/http"
	"unsafe"

	"github.com/urnd/urnd/proxy/message"
)

// fastEvent is an event of the fast path, with what observers want to know of its request.
type fastEvent struct {
	Event
	method, target, host, referer, userAgent string
}

// fastEvent appends the event of the request that is answered.
func (h *Handler) fastEvent(f *fastClient, w *fastWork) *fastEvent {
	r := &w.request
	w.events = append(w.events, fastEvent{
		Event:  Event{Client: f.client.Addr, Fast: true},
		method: r.Method, target: r.Target, host: r.Host, referer: r.Value("Referer"), userAgent: r.Value("User-Agent"),
	})
	event := &w.events[len(w.events)-1]
	if h.config.Identify {
		w.identify(event)
	}
	return event
}

// identify gives an event a request identifier, unless it has one.
func (w *fastWork) identify(event *fastEvent) {
	if event.ID != "" {
		return
	}
	at := len(w.ids)
	w.ids = message.AppendRequestID(w.ids)
	event.ID = inPlace(w.ids[at:]) // these octets are not written again before the event ends
}

// inPlace returns octets as a string that shares their memory.
func inPlace(octets []byte) string {
	return unsafe.String(unsafe.SliceData(octets), len(octets)) //nolint:gosec // it is not used behind a change
}

// seenRequest is the request of an event, for observers. It is used again for the next event.
type seenRequest struct {
	request            http.Request
	referer, userAgent [1]string
}

// of returns the request of an event.
func (s *seenRequest) of(event *fastEvent) *http.Request {
	r := &s.request
	if r.Header == nil {
		r.Header, r.ProtoMajor, r.ProtoMinor, r.Proto = make(http.Header), 1, 1, "HTTP/1.1"
	}
	r.Method, r.RequestURI, r.Host = event.method, event.target, event.host
	s.referer[0], s.userAgent[0] = event.referer, event.userAgent
	setLine(r.Header, "Referer", s.referer[:])
	setLine(r.Header, "User-Agent", s.userAgent[:])
	return r
}

// setLine sets a field that is not empty.
func setLine(header http.Header, name string, line []string) {
	if line[0] == "" {
		delete(header, name)
		return
	}
	header[name] = line
}
