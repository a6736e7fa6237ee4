package forward

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// requestBody is the body of a request on its way to the origin. One goroutine reads it; Close ends
// a read that waits, and what is left stays with net/http.
type requestBody struct {
	client  *client
	body    io.Reader
	control *http.ResponseController
	expects bool // the client waits for 100 (Continue)
	// deadline is that of each read, by HTTP/2: that of the connection, which the listener sets, is
	// one for all of its streams. nil is by HTTP/1.1.
	deadline func() time.Time
	begun    bool
	ended    atomic.Bool // all was read
	cut      atomic.Bool // reads end at once
	late     atomic.Bool // the client took too long
}

var errAnswered = errors.New("the request is answered")

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	if !b.begun && b.expects && !b.client.proceed() {
		return 0, errAnswered
	}
	b.begun = true
	if b.deadline != nil {
		_ = b.control.SetReadDeadline(b.deadline())
	}
	n, err := b.body.Read(p)
	if b.deadline != nil {
		_ = b.control.SetReadDeadline(time.Time{}) // or the stream would end when it passes
	}
	switch {
	case errors.Is(err, io.EOF):
		b.ended.Store(true)
	case errors.Is(err, os.ErrDeadlineExceeded) && !b.cut.Load():
		b.late.Store(true)
	}
	return n, err
}

// Close implements io.Closer.
func (b *requestBody) Close() error {
	if b.ended.Load() {
		return nil
	}
	if b.deadline != nil {
		return closed(b.body)
	}
	b.cut.Store(true)
	return b.control.SetReadDeadline(time.Unix(1, 0))
}

// release lets net/http read what is left: a connection that is closed before that could take the
// response with it (RFC 9112 section 9.6).
func (b *requestBody) release() {
	if b.cut.Load() {
		_ = b.control.SetReadDeadline(time.Time{})
	}
}

func (p *Proxy) bodyDeadline() time.Time { return p.config.Now().Add(p.config.BodyTimeout) }

// closed closes what can be closed.
func closed(r io.Reader) error {
	if closer, ok := r.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
