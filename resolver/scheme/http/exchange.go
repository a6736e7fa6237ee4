package http

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
	"github.com/urnd/urnd/resolver/scheme"
)

// exchange is one request and its response on a connection.
type exchange struct {
	*conn
	ctx     context.Context //nolint:containedctx // it also ends the body, which has no context
	request *request
	watch   lifetime.Watch // of ctx
	sender  *sender        // nil without a body
	ended   atomic.Bool
	// The response, in one piece of memory with the request.
	resource scheme.Resource
	body     body
	fields   [16]httpmessage.Field
}

// exchange implements carrier.
func (c *conn) exchange(ctx context.Context, r *request) (*scheme.Resource, error) {
	x := &r.first
	if x.conn != nil { // it is sent once more
		x = new(exchange)
	}
	x.conn, x.ctx, x.request = c, ctx, r
	c.begin()
	x.watch = lifetime.On(ctx, c)
	resource, err := x.run()
	if err != nil {
		x.abort()
		return nil, x.blame(err)
	}
	return resource, nil
}

func (x *exchange) run() (*scheme.Resource, error) {
	x.scratch = x.request.appendHead(x.scratch[:0], x.request.keepsAlive())
	if x.talks(x.request) {
		x.awaitHead()
		x.unsent = x.scratch
		return x.receive()
	}
	if _, err := x.Write(x.scratch); err != nil {
		return nil, x.silence(fmt.Errorf("sending the request: %w", err))
	}
	if x.request.hasBody() {
		x.sender = newSender(x)
	} else {
		x.awaitHead()
	}
	return x.receive()
}

// silence returns the error of an exchange without a response, which a timeout is not: the
// request may be served at this moment.
func silence(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return err
	}
	return unanswered{err}
}

// silence is the same, late where an upstream proxy is silent and another one may be asked.
func (x *exchange) silence(err error) error {
	err = silence(err)
	if x.request.target.forwarded() && x.request.isSafe() {
		return late{err}
	}
	return err
}

// receive reads the responses up to the final one: RFC 9110 section 15.2.
func (x *exchange) receive() (*scheme.Resource, error) {
	if _, err := x.in.Peek(1); err != nil {
		return nil, x.silence(fmt.Errorf("waiting for the response: %w", err))
	}
	room := httpmessage.Fields(x.fields[:0])
	for range maxInterim + 1 {
		var h http1.ResponseHead
		var err error
		if h, x.scratch, err = http1.ReadResponse(x.in, x.scratch, room); err != nil {
			return nil, responseError(err)
		}
		room = nil // it is that of the first one
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
		return nil, answered(h) // the client of urnd has no credentials for this proxy
	}
	f, err := h.Frame(x.request.Method)
	if err != nil {
		return nil, responseError(err)
	}
	if x.request.Bound == nil && scheme.HasConnectionToken(h.Fields) {
		f.Persists = false
	}
	x.sender.proceed(false)
	x.resource.Response = httpmessage.Response{
		Status: h.Status, Reason: h.Reason, Fields: h.Fields, ContentLength: f.Length, From: x.from,
	}
	resource := &x.resource
	if f.Empty && x.sender == nil {
		x.finish(f.Persists)
		resource.Body = http.NoBody
		return resource, nil
	}
	b := &x.body
	b.exchange, b.Framing = x, f
	if f.Chunked {
		resource.Trailer = &httpmessage.Trailer{Names: http1.TrailerNames(h.Fields.Lines("Trailer"))}
		b.chunks = http1.ChunkedReader{In: x.in, Trailer: resource.Trailer, MaxTrailer: http1.MaxResponseHead, Lenient: true}
	}
	resource.Body = b
	return resource, nil
}

// finish ends an exchange whose response has ended, or is not wanted: the connection is used
// again, or closed.
func (x *exchange) finish(reuse bool) {
	if !x.ended.CompareAndSwap(false, true) {
		return
	}
	// Octets after the end of a response are no response: RFC 9112 section 11.1.
	reuse = x.watch.Stop() && reuse && x.in.Buffered() == 0 && x.request.keepsAlive()
	if !x.sender.sent(reuse) || !reuse {
		_ = x.Close()
		endBound(x.request.Request)
		return
	}
	x.used = true
	if x.sender != nil {
		_ = x.SetWriteDeadline(time.Time{}) // there may be one for its last octets
	}
	if bound := x.request.Bound; bound != nil {
		bound.Put(x.conn, x.handler.config.IdleTimeout)
		return
	}
	x.handler.pool.Put(x.conn)
}

// abort ends an exchange, and waits for its body to be no longer read.
func (x *exchange) abort() {
	x.finish(false)
	x.sender.abort()
}

// blame returns the error of an exchange: that of the request's body, that of the context, or err.
func (x *exchange) blame(err error) error {
	if failed := x.sender.failure(); failed != nil {
		return fmt.Errorf("%w: %w", scheme.ErrBody, failed)
	}
	if x.ctx.Err() != nil {
		return lifetime.Cause(x.ctx)
	}
	return err
}
