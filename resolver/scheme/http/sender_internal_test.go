package http

import (
	"io"
	"net"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// closable is a body without octets that remembers whether it was closed.
type closable struct{ closed atomic.Bool }

func (*closable) Read([]byte) (int, error) { return 0, io.EOF }

func (c *closable) Close() error {
	c.closed.Store(true)
	return nil
}

// The server closes a connection at the moment in which the body would be begun: a body that another attempt may send
// is not closed.
func TestAbortedWhileBeginning(t *testing.T) {
	conn, peer := net.Pipe()
	defer func() { _, _ = conn.Close(), peer.Close() }()
	go func() { _, _ = io.Copy(io.Discard, peer) }()
	h := New(Config{Now: time.Now, HeaderTimeout: time.Minute})
	defer h.Close()
	for i := range 20_000 {
		body := new(closable)
		r := &request{Request: scheme.Request{Request: httpmessage.Request{Method: "PUT", Body: body}}, length: -1}
		s := newSender(&exchange{conn: h.newConn(conn, key{}, netip.AddrPort{}), request: r})
		for range i % 8 { // so that each of the two is first at times
			runtime.Gosched()
		}
		s.abort()
		if body.closed.Load() && !r.begun {
			t.Fatal("a body that was not begun is closed")
		}
	}
}
