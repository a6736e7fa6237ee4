package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// exchange is a request that is being handled, and the ResponseWriter of its handlers, which
// records the status and size of the response. It is pooled.
type exchange struct {
	http.ResponseWriter
	handler *Handler
	in      inbound
	ctx     context.Context   //nolint:containedctx // it is that of the request
	lines   httpmessage.Lines // the fields of the request
	header  http.Header       // of a request of net/http
	headers httpmessage.Lines // headerLines, made once for all requests of a pooled exchange
	client  gate.Client
	place   route.Place
	ask     route.Ask
	verdict gate.Verdict
	hops    uint8 // see resolver.Query
	// isCrossed is whether the fields of cross-origin requests are set, and isReadable whether the page that has sent the request may read
	// the reply.
	isCrossed, isReadable bool
	event                 Event
	body                  []byte // of a redirect; room that is used again, as that of links is
	links                 []byte
}

// newExchange returns an exchange, whose request, lines and client are to be set.
func (h *Handler) newExchange() *exchange {
	x, _ := h.exchanges.Get().(*exchange)
	if x == nil {
		x = new(exchange)
		x.headers = x.headerLines
	}
	x.handler = h
	return x
}

// run answers the request, and calls Observe with the outcome.
func (x *exchange) run(ctx context.Context, w http.ResponseWriter) {
	in, h := &x.in, x.handler
	x.ResponseWriter, x.ctx = w, ctx
	x.client.Lines, x.client.Host, x.client.Secure = x.lines, in.host, in.isSecure
	x.event = Event{Method: in.method, Target: in.target, Host: in.host, Proto: in.proto, Client: x.client.Addr, Form: "none"}
	start := h.config.Now()
	if h.config.Identify {
		x.identify()
	}
	completed := false
	defer func() {
		x.end(start, completed || x.answerPanic(recover()))
	}()
	x.traced(start)
	completed = true
}

func (x *exchange) headerLines(name string) []string { return x.header[name] }

// WriteHeader implements http.ResponseWriter. Interim responses are not recorded.
func (x *exchange) WriteHeader(status int) {
	if x.event.Status == 0 && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		x.event.Status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// WriteFields implements forward.ResponseWriter.
func (x *exchange) WriteFields(status int, fields httpmessage.Fields) {
	x.event.Status, x.event.Type = status, fields.Value("Content-Type")
	if out, ok := x.ResponseWriter.(*fast.Response); ok {
		out.WriteFields(status, fields)
		return
	}
	header := x.Header()
	fields.Clone().CopyTo(header) // which refers to their memory
	if _, ok := header["Content-Type"]; !ok {
		header["Content-Type"] = nil // net/http would guess one
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
	return n, err
}

// Hijack is for http.ResponseController, and records a change of protocol.
func (x *exchange) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(x.ResponseWriter).Hijack()
	if err == nil {
		x.event.Status = http.StatusSwitchingProtocols
		if x.in.method == http.MethodConnect {
			x.event.Status = http.StatusOK
		}
	}
	return conn, rw, err
}

// SetServer implements forward.ResponseWriter.
func (x *exchange) SetServer(at netip.AddrPort) { x.event.Server = at }

// SetReason implements forward.ResponseWriter.
func (x *exchange) SetReason(status int, reason string) { x.in.setReason(status, reason) }

// IsLate implements forward.ResponseWriter.
func (x *exchange) IsLate() bool { return x.in.isLate() }

// Broken implements forward.ResponseWriter.
func (x *exchange) Broken(err error) {
	x.event.Err = err
	x.identify()
	x.reportAs("a response broke off", x.event.Status, resolver.Unreachable(err))
}

// EndEarly is for message.Abort. A client gets what has come, where it sees by the framing that more is missing: by HTTP/1.1
// each response has a length or chunks, by HTTP/1.0 only a length (RFC 9112 section 8). A stream of HTTP/2 is reset.
func (x *exchange) EndEarly() bool {
	if err := http.NewResponseController(x.ResponseWriter).Flush(); err != nil {
		return false // the client does not read
	}
	isFramed := x.in.isHTTP11() || len(x.Header()["Content-Length"]) > 0
	return isFramed && x.in.endEarly()
}

// ReadFrom lets files be sent without copying them.
func (x *exchange) ReadFrom(r io.Reader) (int64, error) {
	if x.event.Status == 0 {
		x.event.Status = http.StatusOK
	}
	n, err := io.Copy(x.ResponseWriter, r)
	x.event.Bytes += n
	return n, err
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// end reports the outcome of an exchange that began at start, and returns it to the pool.
// completed is false where its handler panicked.
func (x *exchange) end(start time.Time, completed bool) {
	h := x.handler
	if !completed {
		message.Abort(x)
	}
	event := &x.event
	switch {
	case errors.Is(event.Err, context.Canceled) && x.ctx.Err() != nil:
		event.Status = 0 // the client left before the response
	case completed && event.Status == 0:
		event.Status = http.StatusOK // net/http sends it for an empty response
	}
	event.Took = h.config.Now().Sub(start)
	if event.Type == "" {
		event.Type = firstOf(x.Header()["Content-Type"])
	}
	if h.config.Observe != nil {
		event.Referer, event.UserAgent = x.lines.Value("Referer"), x.lines.Value("User-Agent")
		event.User = gate.UserOf(x.lines)
		h.config.Observe(event)
	}
	*x = exchange{headers: x.headers, body: x.body[:0], links: x.links[:0]}
	h.exchanges.Put(x)
}

func firstOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

// identify sets the request identifier in the response, unless it is set: that of a trusted proxy in front of
// urnd, or a new one. By it the failure that a user reports is found in the log.
func (x *exchange) identify() {
	if x.event.ID != "" {
		return
	}
	id := httpmessage.RequestID(x.lines.Value(httpmessage.RequestIDField), gate.Contains(x.handler.config.Access.Trusted, x.client.Peer))
	x.Header()[httpmessage.RequestIDField] = []string{id}
	x.event.ID = id
}

// reply answers an exchange, as the preconditions of its request want it, with replyExhausted where no memory is left for the body
// (limits.documents).
func (x *exchange) reply(r message.Reply) {
	switch r.Precondition(x.in.method, x.lines) {
	case http.StatusNotModified:
		r = r.NotModified()
	case http.StatusPreconditionFailed:
		if r.Close != nil {
			r.Close()
		}
		x.fail(problem.ErrUnmatched)
		return
	}
	memory, err := x.handler.config.Documents.Hold(x.client.Addr, int64(len(r.Body)))
	if err != nil {
		if r.Close != nil {
			r.Close()
		}
		if r.Header["Connection"] != nil { // close: where the next request begins is not known
			x.Header()["Connection"] = r.Header["Connection"]
		}
		x.replyExhausted(err)
		return
	}
	defer memory.Release()
	x.allowOrigin()
	x.event.Cache = r.Cache.String()
	x.answered(r.Record)
	if r.Failure != nil {
		x.identify()
		x.reportAs("answer incomplete", r.Status, r.Failure)
	}
	message.Write(x, x.in.method, x.marked(r))
}

// replyExhausted answers an exchange whose reply failed with err, a full or used up quota, by a constant: a refusal must not need what
// has run out, so it holds no memory, renders no page, and depends on neither the request nor the configuration.
func (x *exchange) replyExhausted(err error) {
	x.event.Err = err
	x.identify()
	x.report(err)
	x.allowOrigin()
	message.Write(x, x.in.method, x.handler.exhausted)
}

// base returns the absolute URL of this server for the client.
func (x *exchange) base() string { return x.place.Base(x.in.host) }

// marked returns a reply about a name with the fields for caches in front of urnd.
func (x *exchange) marked(r message.Reply) message.Reply {
	if x.ask.Kind != route.KindName && x.ask.Kind != route.KindRedirect || x.ask.Err != nil {
		return r
	}
	tags, name := x.handler.config.Tags, ""
	if tags != "" {
		canonical, err := x.handler.config.Names.Key(x.ask.Target.Query.URI)
		if err != nil {
			return r
		}
		name = canonical.String()
	}
	return r.Marked(tags, name)
}

// answered tells that a name of the registry was answered; a nil record that none was.
func (x *exchange) answered(record *resolver.Record) {
	if record != nil && x.handler.config.Answered != nil {
		x.handler.config.Answered(x.lines.Value("User-Agent"), record)
	}
}
