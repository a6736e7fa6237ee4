package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/compress"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// exchange is the state of a request, and the ResponseWriter of its handlers, which records the status and
// the size of the response. It is pooled. Begin does all work that needs no waiting; Continue does the rest.
type exchange struct {
	ofRequest
	// Scratch buffers, reused by later requests.
	fields  httpmessage.Fields // added to each response
	head    httpmessage.Fields // the header fields of the response
	name    [256]byte          // for a canonical name
	parts   [][]byte           // the blocks of stored content
	scratch message.Scratch
	texts   route.Scratch
	// siteHeader is newSiteHeader; nil without compression.
	siteHeader httpmessage.Header
}

// ofRequest is the part of an exchange that belongs to its request. The zero value belongs to none.
type ofRequest struct {
	httpmessage.ResponseWriter
	handler     *Handler
	in          *httpmessage.Incoming
	ctx         context.Context    //nolint:containedctx // it is that of the request
	header      httpmessage.Header // the fields of the request
	start       time.Time
	client      gate.Client
	endpoint    *route.Endpoint // the place of the connection, or own
	ownEndpoint route.Endpoint  // a copy, for when the connection may go on to other requests
	hasAddr     bool            // the peer of the connection has an address
	requestHead route.RequestHead
	request     route.Request
	verdict     gate.Verdict
	hops        uint8 // see resolver.Query
	// err is the error found before admission, which ends the request; admitted is whether verdict is set.
	err      error
	admitted bool
	found    forward.Found // the stored response, if Begin has looked it up
	untraced bool          // Observers.SkipSpan has counted it
	left     bool          // writing to the client has failed
	// uses are the uses of all header fields together. plain is whether the request has no content and each
	// field is httpmessage.Plain.
	uses  httpmessage.FieldUse
	plain bool
	// crossed is whether the CORS fields are set; readable is whether the page that sent the request may
	// read the response.
	crossed, readable bool
	encoding          []string // the values of Accept-Encoding that select the response of a site
	closes            bool     // the connection closes after the response
	event             Event
	answerRequest     answer.Request
	location          [1]resolver.Location
}

// newExchange returns an exchange for a request, from the pool.
func (h *Handler) newExchange(in *httpmessage.Incoming, w httpmessage.ResponseWriter) *exchange {
	x, _ := h.exchanges.Get().(*exchange)
	if x == nil {
		x = new(exchange)
		if h.config.Compress != nil {
			x.siteHeader = x.newSiteHeader
		}
	}
	x.handler, x.in, x.ResponseWriter, x.header = h, in, w, in.Header()
	x.ctx, x.start, x.event.Form = context.Background(), h.config.Now(), "none"
	return x
}

// maxKept is the largest capacity of the slices that a pooled exchange retains.
const maxKept = 64

// release returns an exchange to the pool.
func (x *exchange) release() {
	h := x.handler
	x.ofRequest = ofRequest{}
	x.scratch.Reset()
	clear(x.parts)
	clear(x.fields)
	clear(x.head)
	x.fields, x.head, x.parts = x.fields[:0], x.head[:0], x.parts[:0]
	if cap(x.head) > maxKept || cap(x.fields) > maxKept || cap(x.parts) > maxKept { // large buffers are not pooled
		x.head, x.fields, x.parts = nil, nil, nil
	}
	h.exchanges.Put(x)
}

// Continue implements httpmessage.Continuation, and calls Observe with the outcome.
func (x *exchange) Continue() {
	x.ctx = x.Context()
	completed := false
	defer func() {
		x.end(completed || x.answerPanic(recover()))
	}()
	x.traced()
	completed = true
}

// WriteHeader implements httpmessage.ResponseWriter. It adds the fields that each response has.
func (x *exchange) WriteHeader(status int, reason string, fields httpmessage.Fields) {
	if x.event.Status == 0 {
		x.event.Status = status
	}
	x.event.Type = fields.Get("Content-Type")
	x.head = append(x.head[:0], fields...)
	for _, f := range x.fields {
		if f.HasName("Vary") || !fields.Has(f.Name) {
			x.head = append(x.head, f)
		}
	}
	if x.closes && x.in.Major == 1 && !fields.Has("Connection") {
		x.head = append(x.head, httpmessage.Field{Name: "Connection", Value: "close"})
	}
	x.ResponseWriter.WriteHeader(status, reason, x.head)
}

// Write implements io.Writer.
func (x *exchange) Write(b []byte) (int, error) {
	n, err := x.ResponseWriter.Write(b)
	x.event.Bytes += int64(n)
	x.left = x.left || err != nil
	return n, err
}

// WriteBuffers implements httpmessage.ResponseWriter.
func (x *exchange) WriteBuffers(buffers [][]byte) (int64, error) {
	n, err := x.ResponseWriter.WriteBuffers(buffers)
	x.event.Bytes += n
	return n, err
}

// ReadFrom implements io.ReaderFrom, so that files are sent without copying (sendfile). It cannot tell a
// failure of the file from one of the client: the disk store reports its own.
func (x *exchange) ReadFrom(r io.Reader) (int64, error) {
	n, err := x.ResponseWriter.ReadFrom(r)
	x.event.Bytes += n
	x.left = x.left || err != nil
	return n, err
}

// Hijack implements httpmessage.ResponseWriter, and records a change of protocol.
func (x *exchange) Hijack() (net.Conn, []byte, error) {
	conn, read, err := x.ResponseWriter.Hijack()
	if err == nil && x.event.Status == 0 {
		x.event.Status = http.StatusSwitchingProtocols
		if x.in.Method == http.MethodConnect {
			x.event.Status = http.StatusOK
		}
	}
	return conn, read, err
}

// CloseAfterResponse implements forward.ResponseWriter.
func (x *exchange) CloseAfterResponse() { x.closes = true }

// SetServer implements forward.ResponseWriter.
func (x *exchange) SetServer(at netip.AddrPort) { x.event.Server = at }

// SourceFailed implements forward.ResponseWriter.
func (x *exchange) SourceFailed(err error) {
	x.event.Err = err
	x.identify()
	x.reportAs("response aborted", x.event.Status, resolver.Unreachable(err))
}

// end reports the outcome of an exchange, and returns it to the pool. completed is false after a panic of the handler.
func (x *exchange) end(completed bool) {
	h, event := x.handler, &x.event
	switch {
	case !completed, event.Status == 0 && x.aborted(event.Err):
		message.Abort(x)
	case event.Status == 0:
		event.Status = http.StatusOK // net/http semantics: an empty response has status 200
	}
	event.Duration = h.config.Now().Sub(x.start)
	if h.config.Observe != nil {
		event.Method, event.Target, event.Host, event.Proto = x.in.Method, x.in.Target, x.in.Host, x.in.Proto()
		event.Referer, event.UserAgent = x.header.Get("Referer"), x.header.Get("User-Agent")
		event.Client = x.client.Addr
		event.User = x.verdict.User
		if event.User == "" && x.uses&httpmessage.Secret != 0 {
			event.User = gate.UserOf(x.header)
		}
		h.config.Observe(event)
	}
	x.release()
}

// identify sets the request identifier in the response, unless it is set: that of a trusted proxy in front of
// urnd, or a new one. It connects the failure that a user reports to its log lines.
func (x *exchange) identify() {
	if x.event.ID != "" {
		return
	}
	start, id := x.scratch.Text.Begin()
	trusted := gate.Contains(x.handler.config.Access.Trusted, x.client.Peer)
	id = httpmessage.AppendRequestID(id, x.header.Get(httpmessage.RequestIDField), trusted)
	x.event.ID = x.scratch.Text.End(start, id)
	x.fields.Set(httpmessage.RequestIDField, x.event.ID)
}

// reply sends a reply, or the outcome of the request's preconditions (RFC 9110 section 13). It calls
// replyExhausted if the memory for documents is used up (limits.documents).
func (x *exchange) reply(r message.Reply) {
	coding := x.coding(&r)
	switch r.Precondition(x.in.Method, x.header) {
	case http.StatusNotModified:
		if r = r.NotModified(); coding != "" {
			compress.Weaken(&r.Fields)
		}
	case http.StatusPreconditionFailed:
		if r.Close != nil {
			r.Close()
		}
		x.fail(problem.ErrPreconditionFailed)
		return
	}
	memory, err := x.handler.config.DocumentMemory.Reserve(x.client.Addr, int64(len(r.Body)))
	if err != nil {
		if r.Close != nil {
			r.Close()
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
	x.mark(&r)
	if coding != "" && len(r.Body) > 0 {
		x.compress(&r, coding)
	}
	message.Write(x, x.in.Method, r, &x.scratch)
}

// replyExhausted answers a request whose reply failed with err, a full limit or quota. It sends a constant
// that holds no memory, renders no page and depends on neither request nor configuration: an error reply must
// not need the resource that has run out.
func (x *exchange) replyExhausted(err error) {
	x.event.Err = err
	x.identify()
	x.report(err)
	x.allowOrigin()
	message.Write(x, x.in.Method, x.handler.exhausted, &x.scratch)
}

// base returns the absolute URL of this server for the client.
func (x *exchange) base() string { return x.endpoint.Base(x.in.Host) }

// mark adds the fields for caches in front of urnd to a reply about a name.
func (x *exchange) mark(r *message.Reply) {
	if x.request.Kind != route.KindName && x.request.Kind != route.KindRedirect || x.request.Err != nil {
		return
	}
	tags, name := x.handler.config.Tags, ""
	if tags != "" {
		canonical, err := x.handler.config.Names.CanonicalName(x.request.Target.Query.URI)
		if err != nil {
			return
		}
		name = canonical.String()
	}
	if tags != "" || r.SharedMaxAge != 0 {
		*r = r.WithCacheTags(tags, name)
	}
}

// answered calls Answered with the record of a resolved name; a nil record means that no name was resolved.
func (x *exchange) answered(record *resolver.Record) {
	if record != nil && x.handler.config.Answered != nil {
		x.handler.config.Answered(x.header.Get("User-Agent"), record)
	}
}
