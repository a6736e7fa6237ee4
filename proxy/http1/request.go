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

// maxGathered is how many bytes of responses are gathered before they are written.
const maxGathered = 64 << 10

const (
	emptyLine     = "\r\n"
	maxEmptyLines = 2 // before a request
)

// skipEmptyLines skips empty lines before a request: old clients send one or two behind the content of a POST (RFC 9112
// section 2.2).
func (c *connection) skipEmptyLines() {
	w := c.work
	for c.emptyLines < maxEmptyLines && bytes.HasPrefix(w.in.data[w.start:w.end], []byte(emptyLine)) {
		w.start += len(emptyLine)
		c.emptyLines++
	}
}

// advance begins the requests that have come, one after another, as long as each is answered. What was answered is
// written when it returns, but where a request is to go on at once.
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
			c.conn.Idle()
			return stateIdle
		}
		size, err := syntax.ParseRequest(w.in.data[w.start:w.end], &w.request, c.server.config.MaxHeader)
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

// prepare makes the response and the body of a request whose head has come. stateNext is that it can begin without
// waiting.
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
	if w.body.chunks != nil { // which are read into the buffer of the head
		w.request.Clone()
	}
	return stateBegin
}

// begin begins a request, and answers it where it need not wait.
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

// proceed goes on with a request that waits for others.
func (c *connection) proceed() (st state) {
	w := c.work
	failed := c.flush()
	w.leaveBuffer(&c.server.memory)
	if w.response.wait(); failed != nil { // what Begin has taken is given back by Continue
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

// panicked ends the connection of a request whose handler has panicked. What that still refers to is not used again.
func (c *connection) panicked() state {
	if !c.work.response.taken {
		c.work.response.Abort()
		c.sendBefore()
	}
	c.work = nil
	return stateClosed
}

// sendBefore sends the responses before one that was aborted, where nothing of that was sent.
func (c *connection) sendBefore() {
	if w := c.work; !w.response.sent {
		w.out = w.out[:w.response.mark]
		_ = c.flush() // the connection ends, whether it fails or not
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
	case pending, w.start < w.end, !w.request.Closes:
		// The client may be sending: a close could be a reset, which takes the response from it (RFC 9112 section 9.6).
		return stateLinger
	default:
		return stateClosed
	}
}

// flush writes the responses that were gathered.
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

// refuseError refuses a request that breaks the syntax.
func (c *connection) refuseError(err error) state {
	var refused *syntax.Error
	if !errors.As(err, &refused) {
		return c.refuse(http.StatusBadRequest, err.Error())
	}
	return c.refuse(refused.Status, refused.Reason)
}

// refuse answers a request that no handler sees, and ends the connection: where the next request begins is not known.
func (c *connection) refuse(status int, reason string) state {
	w, s := c.work, c.server
	sent, contentType, content := s.config.Refusal(&w.request, status, reason, c.plain)
	w.request.Closes = true
	w.response.reset(c)
	w.response.minor = 1 // whatever was understood of the request
	w.response.WriteHeader(sent, "", httpmessage.Fields{
		{Name: "Content-Type", Value: contentType}, {Name: "Content-Length", Value: strconv.Itoa(len(content))},
	})
	_, _ = w.response.Write(content) // what fails is seen by flush
	w.response.finish()
	if s.config.Refused != nil { // before the client can know it
		s.config.Refused(sent)
	}
	if c.flush() != nil {
		return stateClosed
	}
	return stateLinger
}
