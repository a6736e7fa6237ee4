package http

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
	"github.com/urnd/urnd/resolver/scheme"
)

// exchange is a request and its response on a connection.
type exchange struct {
	*conn
	ctx     context.Context //nolint:containedctx // its cancellation also ends the body, which has no context
	request *request
	watch   lifetime.Watch // watches ctx
	sender  *sender        // nil without a body
	ended   atomic.Bool
	// The response is part of the request's allocation.
	resource scheme.Resource
	body     body
	fields   [16]httpmessage.Field
}

// exchange implements carrier.
func (c *conn) exchange(ctx context.Context, r *request) (*scheme.Resource, error) {
	x := &r.first
	if x.conn != nil { // the request is retried
		x = new(exchange)
	}
	x.conn, x.ctx, x.request = c, ctx, r
	c.begin()
	x.watch = lifetime.Notify(ctx, c)
	resource, err := x.run()
	if err != nil {
		x.abort()
		return nil, x.blame(err)
	}
	return resource, nil
}

func (x *exchange) run() (*scheme.Resource, error) {
	x.scratch = x.request.appendHead(x.scratch[:0], x.request.keepsAlive())
	if x.canExchangeRaw(x.request) {
		x.awaitHead()
		x.unsent = x.scratch
		return x.receive()
	}
	if _, err := x.Write(x.scratch); err != nil {
		return nil, x.wrapNoResponse(fmt.Errorf("sending the request: %w", err))
	}
	if x.request.hasBody() {
		x.sender = newSender(x)
	} else {
		x.awaitHead()
	}
	return x.receive()
}

// wrapNoResponse wraps the error of an exchange without a response as unanswered, except a timeout: then the server
// may be processing the request at this moment.
func wrapNoResponse(err error) error {
	if isTimeout(err) {
		return err
	}
	return noResponseError{err}
}

// wrapNoResponse is the function silence, and wraps the error as late if the upstream proxy did not answer and another
// one may be tried.
func (x *exchange) wrapNoResponse(err error) error {
	err = wrapNoResponse(err)
	if x.request.target.forwarded() && x.request.isSafe() {
		return late{err}
	}
	return err
}

// receive reads the interim responses and the final response: RFC 9110 section 15.2.
func (x *exchange) receive() (*scheme.Resource, error) {
	if _, err := x.in.Peek(1); err != nil {
		return nil, x.wrapNoResponse(fmt.Errorf("waiting for the response: %w", err))
	}
	room := httpmessage.Fields(x.fields[:0])
	for range maxInterim + 1 {
		var h http1.ResponseHead
		var err error
		if h, x.scratch, err = http1.ReadResponse(x.in, x.scratch, room); err != nil {
			return nil, responseError(err)
		}
		room = nil // the array belongs to the first response
		switch {
		case h.Status == http.StatusSwitchingProtocols:
			return x.switched(h)
		case h.Status >= http.StatusOK:
			return x.final(h)
		case h.Status == http.StatusContinue:
			x.sender.proceed(true)
		}
		x.request.interim(h.Status, h.Fields)
	}
	return nil, invalid("more than %d interim responses", maxInterim)
}

// final returns the resource of a final response.
func (x *exchange) final(h http1.ResponseHead) (*scheme.Resource, error) {
	x.endHead()
	if h.Status == http.StatusProxyAuthRequired && x.request.target.forwarded() {
		return nil, answered(h) // clients of urnd have no credentials for this proxy
	}
	f, err := h.Frame(x.request.Method)
	if err != nil {
		return nil, responseError(err)
	}
	if x.request.Bound == nil && scheme.HasConnectionToken(h.Fields) {
		f.KeepAlive = false
	}
	x.sender.proceed(false)
	x.resource.Response = httpmessage.Response{
		Status: h.Status, Reason: h.Reason, Fields: h.Fields, ContentLength: f.Length, RemoteAddr: x.from,
	}
	resource := &x.resource
	if f.Empty && x.sender == nil {
		x.finish(f.KeepAlive)
		resource.Body = http.NoBody
		return resource, nil
	}
	b := &x.body
	b.exchange, b.Framing = x, f
	if f.Chunked {
		resource.Trailer = &httpmessage.Trailer{Names: http1.TrailerNames(h.Fields.Values("Trailer"))}
		b.chunks = http1.ChunkedReader{
			In: x.in, Trailer: resource.Trailer, MaxTrailer: http1.MaxResponseHead,
			Lenient: true,
		}
	}
	resource.Body = b
	return resource, nil
}

// finish ends an exchange whose response has ended or is aborted. The connection is reused or closed.
func (x *exchange) finish(reuse bool) {
	if !x.ended.CompareAndSwap(false, true) {
		return
	}
	// Bytes after the end of a response are not a response: RFC 9112 section 11.1.
	reuse = x.watch.Stop() && reuse && x.in.Buffered() == 0 && x.request.keepsAlive()
	if !x.sender.sent(reuse) || !reuse {
		_ = x.Close()
		endBound(x.request.Request)
		return
	}
	x.used = true
	if x.sender != nil {
		_ = x.SetWriteDeadline(time.Time{}) // sent may have set one for the last bytes
	}
	if bound := x.request.Bound; bound != nil {
		bound.Put(x.conn, x.handler.config.IdleTimeout)
		return
	}
	x.handler.pool.Put(x.conn)
}

// abort aborts an exchange, and waits until the body of the request is no longer being read.
func (x *exchange) abort() {
	x.finish(false)
	x.sender.abort()
}

// blame returns the error to report: that of the request's body, that of the context, or err.
func (x *exchange) blame(err error) error {
	if failed := x.sender.failure(); failed != nil {
		return fmt.Errorf("%w: %w", scheme.ErrRequestBody, failed)
	}
	if x.ctx.Err() != nil {
		return lifetime.Cause(x.ctx)
	}
	return err
}
