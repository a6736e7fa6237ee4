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

// closable is an empty body that records Close.
type closable struct{ closed atomic.Bool }

func (*closable) Read([]byte) (int, error) { return 0, io.EOF }

func (c *closable) Close() error {
	c.closed.Store(true)
	return nil
}

// TestAbortedWhileBeginning aborts an exchange while sending of the body starts: a body that a retry may send
// must not be closed.
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
		for range i % 8 { // varies which of the two is first
			runtime.Gosched()
		}
		s.abort()
		if body.closed.Load() && !r.started {
			t.Fatal("a body that was not begun is closed")
		}
	}
}
