package forward

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/uri"
)

// waiting is a connection that is idle until it is closed.
type waiting struct{ closed bool }

func (w *waiting) Alive() bool { return !w.closed }

func (w *waiting) Close() error {
	w.closed = true
	return nil
}

// A connection is only found by its Proxy, as another one may have other rules, and for its origin. The slot
// of each is released once, when it is closed.
func TestSession(t *testing.T) {
	const timeout = 1 << 40 // longer than the test takes
	p, other := new(Proxy), &Proxy{config: Config{Underscores: true}}
	a := boundTo{origin: "http://a"}
	var none *Session
	if none.IsBound() || none.find(p, a) != nil {
		t.Error("no session has a connection")
	}
	for name, tt := range map[string]struct {
		do    func(s *Session, c *waiting)
		found bool
	}{
		"nothing":       {func(*Session, *waiting) {}, true},
		"another host":  {func(s *Session, _ *waiting) { s.find(p, boundTo{origin: "http://b"}) }, true},
		"another Proxy": {func(s *Session, _ *waiting) { s.find(other, a) }, false},
		"closed":        {func(_ *Session, c *waiting) { c.Close() }, false},
		"session ends":  {func(s *Session, _ *waiting) { s.Close() }, false},
	} {
		s, c, released := new(Session), new(waiting), 0
		b := s.bind(p, a, uri.URI{}, func() { released++ })
		b.Put(c, timeout)
		tt.do(s, c)
		if found := s.find(p, a); (found != nil) != tt.found || c.closed == tt.found ||
			s.IsBound() != tt.found {
			t.Errorf("%s: found %t, closed %t, bound %t", name, found != nil, c.closed, s.IsBound())
		}
		s.Close()
		if s.Close(); released != 1 || !c.closed {
			t.Errorf("%s: released %d times, closed %t", name, released, c.closed)
		}
		late := new(waiting)
		if b := s.bind(p, a, uri.URI{}, func() { released++ }); b != nil {
			b.Put(late, timeout)
		}
		if released != 2 || !late.closed || s.IsBound() {
			t.Errorf("%s: behind its end: released %d times, closed %t", name, released, late.closed)
		}
	}
}

// At the global limit, and at that of a client, the connection that has been idle longest is closed: of the
// client with the most, or of the client itself. A connection in use never is.
func TestBoundLimitEndsIdleConnections(t *testing.T) {
	const timeout = 1 << 40 // longer than the test takes
	busy, share := errors.New("all"), errors.New("share")
	p := New(Config{Bound: quota.Limit{
		Semaphore: make(quota.Semaphore, 4), Clients: quota.NewClientLimits(3, 3, share),
		Busy: busy,
	}})
	open := func(client byte, idle bool) (*waiting, error) {
		address := netip.AddrFrom4([4]byte{192, 0, 2, client})
		r := &Request{
			Request:   httpmessage.Request{Fields: httpmessage.NewFields("Authorization", "NTLM a")},
			QuotaAddr: address, Session: new(Session),
		}
		r.URI, _ = uri.Parse("http://a.example/")
		r.Key = r.URI
		if err := p.bind(r); err != nil {
			return nil, err
		}
		c := new(waiting)
		if idle {
			r.bound.Put(c, timeout)
		}
		return c, nil
	}
	var all []*waiting
	for i, tt := range []struct {
		client byte
		idle   bool
		err    error
		ended  int // the connection that is closed, -1 for none
	}{
		{1, true, nil, -1},
		{1, true, nil, -1},
		{1, false, nil, -1},
		{1, true, nil, 0}, // at its own limit
		{2, true, nil, -1},
		{3, true, nil, 1}, // of the client with the most
		{3, false, nil, 3},
		{3, false, nil, 4},
		{2, true, nil, 5},
		{4, false, nil, 8},
		{5, true, busy, -1},
	} {
		c, err := open(tt.client, tt.idle)
		if !errors.Is(err, tt.err) {
			t.Fatalf("%d: %v", i, err)
		}
		all = append(all, c)
		for j, other := range all[:i] {
			if other.closed && j == tt.ended {
				tt.ended, other.closed = -1, false
			}
			if other.closed {
				t.Fatalf("%d: %d has ended", i, j)
			}
		}
		if tt.ended >= 0 {
			t.Fatalf("%d: %d has not ended", i, tt.ended)
		}
	}
}
