package proxy

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
)

// Event is the outcome of one request. It may be used until Observe returns.
type Event struct {
	Request *http.Request
	Client  netip.Addr // the zero value where it has none
	Form    string     // how the question was put: "path", "thttp", "forward" ...
	Service resolver.Service
	Cache   resolver.CacheState
	Status  int    // 0 where the client left before there was one
	Bytes   int64  // of the body
	Type    string // the Content-Type of the response
	Took    time.Duration
	ID      string // of the request; "" where it was given none
	Err     error  // why it failed, nil where it did not
}

// exchange is one request under way. It is passed down the handlers, and is the
// ResponseWriter that they write to: it notes what is sent. It is reused for other
// requests when it has ended.
type exchange struct {
	http.ResponseWriter
	request *http.Request
	client  message.Client
	event   Event
}

// WriteHeader implements http.ResponseWriter. Interim responses do not count.
func (x *exchange) WriteHeader(status int) {
	if x.event.Status == 0 && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		x.event.Status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(b []byte) (int, error) {
	if x.event.Status == 0 {
		x.event.Status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.event.Bytes += int64(n)
	return n, err //nolint:wrapcheck // it stands for the writer that it wraps
}

// Hijack is for http.ResponseController: the protocol is changed.
func (x *exchange) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(x.ResponseWriter).Hijack()
	if err == nil {
		x.event.Status = http.StatusSwitchingProtocols
	}
	return conn, rw, err //nolint:wrapcheck // it stands for the writer that it wraps
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// with changes the context of the request.
func (x *exchange) with(ctx context.Context) { x.request = x.request.WithContext(ctx) }

// begin returns the exchange of a request.
func (h *Handler) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x, _ := h.exchanges.Get().(*exchange)
	if x == nil {
		x = new(exchange)
	}
	client := message.ClientOf(r.RemoteAddr, r.Header, h.config.Access.Trusted)
	*x = exchange{ResponseWriter: w, request: r, client: client, event: Event{Request: r, Form: "none", Client: client.Addr}}
	return x
}

// end reports the outcome of an exchange that began at start, and takes it back. whole is
// false where its handler panicked.
func (h *Handler) end(x *exchange, start time.Time, whole bool) {
	if !whole {
		message.BreakOff(x.ResponseWriter)
	}
	switch event := &x.event; {
	case errors.Is(event.Err, context.Canceled) && event.Request.Context().Err() != nil:
		event.Status = 0 // what was written after that, nobody reads
	case whole && event.Status == 0:
		event.Status = http.StatusOK // net/http says so, of a response that is empty
	}
	x.event.Took = h.config.Now().Sub(start)
	x.event.Type = x.Header().Get("Content-Type")
	if h.config.Observe != nil {
		h.config.Observe(&x.event)
	}
	*x = exchange{}
	h.exchanges.Put(x)
}

// reply answers an exchange.
func (h *Handler) reply(x *exchange, r message.Reply) {
	x.event.Cache = r.Cache
	if r.Failure != nil {
		h.report(x, r.Failure)
	}
	message.Write(x, x.request.Method, r)
}

// fail answers an error, and logs it where it is not the client's.
func (h *Handler) fail(x *exchange, err error) {
	x.event.Err = err
	if x.event.ID == "" && problem.Status(err) >= http.StatusInternalServerError {
		h.identify(x)
	}
	h.report(x, err)
	h.reply(x, problem.Reply(x.request.Header, err))
}
