package http1

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"time"

	syntax "github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

// maxGathered is how many bytes of responses are buffered before they are written.
const maxGathered = 64 << 10

const (
	emptyLine     = "\r\n"
	maxEmptyLines = 2 // before a request
)

// skipEmptyLines skips empty lines before a request: old clients send one or two after the content of a POST
// (RFC 9112 section 2.2).
func (c *connection) skipEmptyLines() {
	w := c.work
	for c.emptyLines < maxEmptyLines && bytes.HasPrefix(w.in.data[w.start:w.end], []byte(emptyLine)) {
		w.start += len(emptyLine)
		c.emptyLines++
	}
}

// advance begins the received requests in order, as long as Begin answers each. Responses are written before
// it returns, unless a request continues immediately.
func (c *connection) advance() state {
	w := c.work
	for {
		if len(w.out) > maxGathered && c.flush() != nil {
			return stateClosed
		}
		c.take()
		c.skipEmptyLines()
		if w.start == w.end {
			if c.flush() != nil {
				return stateClosed
			}
			c.conn.SetIdle()
			return stateIdle
		}
		size, err := syntax.ParseRequest(w.in.data[w.start:w.end], &w.request, c.server.config.MaxHeaderBytes)
		switch {
		case err != nil:
			return c.refuseError(err)
		case size == 0 && c.flush() != nil:
			return stateClosed
		case size == 0:
			return stateHead
		}
		w.start += size
		if st := c.prepare(); st != stateNext {
			return st
		}
		if st := c.begin(); st != stateNext {
			return st
		}
	}
}

// prepare sets up the response and the body of a request whose header section was received. stateNext means
// that Begin will not block.
func (c *connection) prepare() state {
	w := c.work
	w.begun, c.used, c.emptyLines = true, true, 0
	c.idleBy = time.Time{}
	w.response.reset(c)
	if w.request.ContentLength == 0 {
		return stateNext
	}
	w.body = newBody(c)
	w.request.Body = w.body
	if w.request.ContentLength > 0 && w.request.ContentLength <= int64(w.end-w.start) {
		return stateNext
	}
	if c.flush() != nil {
		return stateClosed
	}
	if w.body.chunks != nil { // chunks are read into the buffer of the header section
		w.request.Clone()
	}
	return stateBegin
}

// begin calls Begin, and finishes the response if there is no Continuation.
func (c *connection) begin() (st state) {
	w := c.work
	defer func() {
		if c.server.recovered(recover()) {
			st = c.panicked()
		}
	}()
	if w.continuation = c.server.config.Handler.Begin(&w.request, &w.response); w.continuation != nil {
		return stateContinue
	}
	return c.finish()
}

// proceed runs a Continuation.
func (c *connection) proceed() (st state) {
	w := c.work
	failed := c.flush()
	w.leaveBuffer(&c.server.memory)
	if w.response.wait(); failed != nil { // Continue still has to release the resources of Begin
		w.response.fail(failed)
	}
	defer func() {
		panicked := c.server.recovered(recover())
		w.response.endWait()
		if panicked {
			st = c.panicked()
		}
	}()
	w.continuation.Continue()
	w.continuation = nil
	return c.finish()
}

// panicked ends the connection after a panic of a handler. Its resources are not reused.
func (c *connection) panicked() state {
	if !c.work.response.taken {
		c.work.response.Abort()
		c.sendBefore()
	}
	c.work = nil
	return stateClosed
}

// sendBefore sends the buffered responses before an aborted one of which nothing was sent.
func (c *connection) sendBefore() {
	if w := c.work; !w.response.sent {
		w.out = w.out[:w.response.mark]
		_ = c.flush() // the connection closes in any case
	}
}

// finish ends the response to a request.
func (c *connection) finish() state {
	w := c.work
	r, b := &w.response, w.body
	if r.taken {
		return stateTaken
	}
	persists := r.finish()
	switch {
	case errors.Is(r.err, errEndedEarly):
		return stateLinger
	case errors.Is(r.err, errAborted):
		c.sendBefore()
		return stateClosed
	case r.err != nil:
		return stateClosed
	}
	pending := b != nil && !b.complete()
	if persists && !pending {
		w.body, w.request.Body = nil, nil
		return stateNext
	}
	if c.flush() != nil {
		return stateClosed
	}
	switch {
	case persists && b.drain(): // the client has read while it was sending
		w.body, w.request.Body = nil, nil
		return stateNext
	case pending, w.start < w.end, !w.request.Close:
		// The client may be sending: closing could cause a reset that discards the response (RFC 9112 section 9.6).
		return stateLinger
	default:
		return stateClosed
	}
}

// flush writes the buffered responses.
func (c *connection) flush() error {
	w := c.work
	if len(w.out) == 0 {
		return nil
	}
	_, err := c.conn.Write(w.out)
	if w.out = w.out[:0]; cap(w.out) > maxKept {
		w.out = nil
	}
	w.response.mark, w.response.sent = 0, w.response.status != 0
	return err
}

// refuseError rejects a malformed request.
func (c *connection) refuseError(err error) state {
	var refused *syntax.Error
	if !errors.As(err, &refused) {
		return c.refuse(http.StatusBadRequest, err.Error())
	}
	return c.refuse(refused.Status, refused.Reason)
}

// refuse sends an error response without calling the handler, and closes the connection: the start of the
// next request is unknown.
func (c *connection) refuse(status int, reason string) state {
	w, s := c.work, c.server
	sent, contentType, content := s.config.ErrorDocument(&w.request, status, reason, c.plain)
	w.request.Close = true
	w.response.reset(c)
	w.response.minor = 1 // whatever was parsed of the request
	w.response.WriteHeader(sent, "", httpmessage.Fields{
		{Name: "Content-Type", Value: contentType}, {Name: "Content-Length", Value: strconv.Itoa(len(content))},
	})
	_, _ = w.response.Write(content) // errors are seen by flush
	w.response.finish()
	if s.config.Rejected != nil { // before the client can see the response
		s.config.Rejected(sent)
	}
	if c.flush() != nil {
		return stateClosed
	}
	return stateLinger
}
