package scheme_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// pooledConn is a connection whose name begins with the letter of its server.
type pooledConn struct {
	name   string
	closed *[]string
}

func (c pooledConn) Server() string { return c.name[:1] }

func (c pooledConn) Remote() netip.AddrPort { return netip.AddrPort{} }

func (c pooledConn) Close() { *c.closed = append(*c.closed, c.name) }

func TestPool(t *testing.T) {
	for _, tt := range []struct {
		most           int
		put, left, end string // in the order of Put, of Take, and of Close
	}{
		{4, "a1 b1 c1 d1", "d1 c1 b1 a1", ""},
		{4, "a1 b1 c1 d1 e1", "e1 d1 c1 b1", "a1"},
		{4, "a1 b1 a2 a3", "a3 a2 b1", "a1"},       // no server has more than half
		{4, "a1 a2 b1 b2 c1", "c1 b2 b1 a2", "a1"}, // all have room
		{1, "a1 a2", "a2", "a1"},
		{0, "a1 a2", "", "a1 a2"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var closed []string
			p := scheme.NewPool[pooledConn](tt.most, time.Minute)
			for name := range strings.FieldsSeq(tt.put) {
				p.Put(pooledConn{name, &closed})
			}
			var left []string
			for {
				c, ok := p.Take(nil, func(pooledConn) bool { return true })
				if !ok {
					break
				}
				left = append(left, c.name)
			}
			time.Sleep(time.Hour) // nothing that was taken is closed
			synctest.Wait()
			if got := strings.Join(left, " "); got != tt.left || strings.Join(closed, " ") != tt.end {
				t.Errorf("%s: %s are left, %s closed", tt.put, got, closed)
			}
		})
	}
}

func TestPoolEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed []string
		p := scheme.NewPool[pooledConn](8, time.Minute)
		put := func(names ...string) {
			for _, name := range names {
				p.Put(pooledConn{name, &closed})
			}
		}
		expect := func(what, want string, waiting int) {
			t.Helper()
			synctest.Wait()
			if got := strings.Join(closed, " "); got != want || p.Len() != waiting {
				t.Errorf("%s: %q are closed and %d wait, want %q and %d", what, got, p.Len(), want, waiting)
			}
			closed = nil
		}
		put("a1")
		time.Sleep(30 * time.Second)
		put("b1")
		time.Sleep(31 * time.Second)
		expect("one has waited for its time", "a1", 1)
		put("a2", "c1", "a3")
		if n := p.Drop(func(c pooledConn) bool { return c.Server() == "a" }); n != 2 {
			t.Errorf("%d were dropped", n)
		}
		expect("those of a server are dropped", "a3 a2", 2)
		refuse := errors.New("refused")
		if c, ok := p.Take(func(netip.AddrPort) error { return refuse }, func(pooledConn) bool { return true }); ok {
			t.Errorf("%s, whose server is refused", c.name)
		}
		p.Close()
		expect("closed", "c1 b1", 0)
		put("a4")
		expect("after it", "a4", 0)
	})
}
