package forward

import (
	"testing"

	"github.com/urnd/urnd/uri"
)

// waiting is a connection that waits until it is closed.
type waiting struct{ isClosed bool }

func (w *waiting) Alive() bool { return !w.isClosed }

func (w *waiting) Close() error {
	w.isClosed = true
	return nil
}

// A connection is found by its Proxy alone, as another one has other rules, and for its origin; the slot of each is
// released once, when it ends.
func TestSession(t *testing.T) {
	const timeout = 1 << 40 // more than the test takes
	p, other := new(Proxy), &Proxy{config: Config{Literals: true}}
	var none *Session
	if none.IsBound() || none.find(p, "http://a") != nil {
		t.Error("no session has a connection")
	}
	for name, tt := range map[string]struct {
		do    func(s *Session, c *waiting)
		found bool
	}{
		"nothing":       {func(*Session, *waiting) {}, true},
		"another host":  {func(s *Session, _ *waiting) { s.find(p, "http://b") }, true},
		"another Proxy": {func(s *Session, _ *waiting) { s.find(other, "http://a") }, false},
		"closed":        {func(_ *Session, c *waiting) { c.Close() }, false},
		"session ends":  {func(s *Session, _ *waiting) { s.Close() }, false},
	} {
		s, c, released := new(Session), new(waiting), 0
		b := s.bind(p, "http://a", uri.URI{}, func() { released++ })
		b.Put(c, timeout)
		tt.do(s, c)
		if found := s.find(p, "http://a"); (found != nil) != tt.found || c.isClosed == tt.found || s.IsBound() != tt.found {
			t.Errorf("%s: found %t, closed %t, bound %t", name, found != nil, c.isClosed, s.IsBound())
		}
		s.Close()
		if s.Close(); released != 1 || !c.isClosed {
			t.Errorf("%s: released %d times, closed %t", name, released, c.isClosed)
		}
		late := new(waiting)
		if b := s.bind(p, "http://a", uri.URI{}, func() { released++ }); b != nil {
			b.Put(late, timeout)
		}
		if released != 2 || !late.isClosed || s.IsBound() {
			t.Errorf("%s: behind its end: released %d times, closed %t", name, released, late.isClosed)
		}
	}
}
