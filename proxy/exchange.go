package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Event is the outcome of one request. It is valid until Observe returns.
type Event struct {
	Request *http.Request
	Client  netip.Addr // the zero value where it has no address
	// Scheme is that of the target URI where the target of the request is only its path: of a site, or by HTTP/2; "" for others.
	Scheme  string
	Server  netip.AddrPort // the origin that has answered the request; the zero value for none, or where it is not known
	Form    string         // the form of the request: "path", "thttp", "forward" ...
	Service resolver.Service
	Cache   string // what the cache did, in one word: "hit", "miss" ...; "" where none was used
	Rule    string // the rule of the site that decided, "" for none
	Status  int    // 0 where the client left before there was one
	Bytes   int64  // of the body
	Type    string // the Content-Type of the response
	Took    time.Duration
	Fast    bool   // the fast path has answered
	ID      string // the request identifier, "" for none
	Err     error  // why the request failed, nil where it did not
}

// exchange is a request that is being handled, and the ResponseWriter of its handlers, which
// records the status and size of the response. It is pooled.
type exchange struct {
	http.ResponseWriter
	handler *Handler
	request *http.Request
	client  message.Client
	hops    uint8  // see resolver.Query
	user    string // of the proxy, who has logged in; "" for none
	event   Event
}

// asking returns a question as that of the client.
func (x *exchange) asking(q resolver.Query) resolver.Query {
	q.Hops, q.Client = x.hops, x.client.Addr
	return q
}

// WriteHeader implements http.ResponseWriter. Interim responses are not recorded.
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

// Hijack is for http.ResponseController, and records a change of protocol.
func (x *exchange) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(x.ResponseWriter).Hijack()
	if err == nil {
		x.event.Status = http.StatusSwitchingProtocols
		if x.request.Method == http.MethodConnect {
			x.event.Status = http.StatusOK
		}
	}
	return conn, rw, err //nolint:wrapcheck // it stands for the writer that it wraps
}

// unreached adds to an error about a server, other than one that names it, the URL that was asked for.
func (x *exchange) unreached(err error) error {
	if problem.Status(err) < http.StatusBadGateway || errors.As(err, new(*problem.Failure)) {
		return err
	}
	target := x.request.RequestURI
	if x.event.Scheme != "" {
		target = x.event.Scheme + "://" + x.request.Host + target
	}
	return &problem.Failure{Err: err, Input: target, Noun: x.handler.config.Schemes.Noun(target)}
}

// SetServer implements forward.ResponseWriter.
func (x *exchange) SetServer(at netip.AddrPort) { x.event.Server = at }

// SetReason implements forward.ResponseWriter.
func (x *exchange) SetReason(status int, reason string) { listen.SetReason(x.request, status, reason) }

// Broken implements forward.ResponseWriter.
func (x *exchange) Broken(err error) {
	x.event.Err = err
	x.handler.identify(x)
	x.handler.reportAs(x, "a response broke off", x.event.Status, resolver.Unreachable(err))
}

// EndEarly is for message.Abort. A client gets what has come, where it sees by the framing that more is missing: by HTTP/1.1
// each response has a length or chunks, by HTTP/1.0 only a length (RFC 9112 section 8). A stream of HTTP/2 is reset.
func (x *exchange) EndEarly() bool {
	if err := http.NewResponseController(x.ResponseWriter).Flush(); err != nil {
		return false // the client does not read
	}
	isFramed := x.request.ProtoAtLeast(1, 1) || len(x.Header()["Content-Length"]) > 0
	return isFramed && listen.EndEarly(x.request)
}

// ReadFrom lets files be sent without copying them.
func (x *exchange) ReadFrom(r io.Reader) (int64, error) {
	if x.event.Status == 0 {
		x.event.Status = http.StatusOK
	}
	n, err := io.Copy(x.ResponseWriter, r)
	x.event.Bytes += n
	return n, err //nolint:wrapcheck // it stands for the writer that it wraps
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// forwards reports whether the request is one to be forwarded, also where it is refused before its
// form is known.
func (x *exchange) forwards() bool {
	switch x.event.Form {
	case "forward", "connect", "gateway", "fetch":
		return true
	case "none":
		target := x.request.RequestURI
		return x.request.Method == http.MethodConnect || !strings.HasPrefix(target, "/") && strings.Contains(target, "://")
	default:
		return false
	}
}

// withContext replaces the context of the request.
func (x *exchange) withContext(ctx context.Context) { x.request = x.request.WithContext(ctx) }

// begin returns the exchange of a request.
func (h *Handler) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x, _ := h.exchanges.Get().(*exchange)
	if x == nil {
		x = new(exchange)
	}
	client := h.config.Access.clientOf(r)
	*x = exchange{ResponseWriter: w, handler: h, request: r, client: client, event: Event{Request: r, Form: "none", Client: client.Addr}}
	return x
}

// end reports the outcome of an exchange that began at start, and returns it to the pool.
// completed is false where its handler panicked.
func (h *Handler) end(x *exchange, start time.Time, completed bool) {
	if !completed {
		message.Abort(x)
	}
	switch event := &x.event; {
	case errors.Is(event.Err, context.Canceled) && event.Request.Context().Err() != nil:
		event.Status = 0 // the client left before the response
	case completed && event.Status == 0:
		event.Status = http.StatusOK // net/http sends it for an empty response
	}
	x.event.Took = h.config.Now().Sub(start)
	if kind := x.Header()["Content-Type"]; len(kind) > 0 {
		x.event.Type = kind[0]
	}
	if h.config.Observe != nil {
		h.config.Observe(&x.event)
	}
	*x = exchange{}
	h.exchanges.Put(x)
}

// reply answers an exchange.
func (h *Handler) reply(x *exchange, r message.Reply) {
	memory, err := h.config.Documents.Hold(x.client.Addr, int64(len(r.Body)))
	if err != nil {
		if r.Close != nil {
			r.Close()
		}
		h.fail(x, err) // with a shorter reply
		return
	}
	defer memory.Release()
	x.event.Cache = r.Cache.String()
	h.answered(x.request, r.Record)
	if r.Failure != nil {
		h.identify(x)
		h.reportAs(x, "answer incomplete", r.Status, r.Failure)
	}
	message.Write(x, x.request.Method, r)
}

// answered tells that a name of the registry was answered; a nil record that none was.
func (h *Handler) answered(r *http.Request, record *resolver.Record) {
	if record != nil && h.config.Answered != nil {
		h.config.Answered(r, record)
	}
}

// fail replies with an error, and logs it unless the client caused it.
func (h *Handler) fail(x *exchange, err error) {
	x.event.Err = err
	h.identify(x) // so that the log and the user speak of the same request
	h.report(x, err)
	reply := problem.Reply(x.request.Header, err)
	if x.forwards() {
		reply = problem.ProxyReply(x.request.Header, "urnd", x.unreached(err))
	}
	var denied *policy.Denied
	if errors.As(err, &denied) {
		x.event.Rule = denied.Rule
	}
	cut := errors.Is(err, scheme.ErrBody) || errors.Is(err, problem.ErrBodyTimeout)
	if x.request.ProtoMajor == 1 && (cut || x.request.Method == http.MethodConnect) {
		reply.Header["Connection"] = []string{"close"} // where the next request begins is not known
	}
	reply.Record = resolver.RecordOf(err)
	h.reply(x, reply)
}
