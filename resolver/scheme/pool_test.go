package scheme_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// pooledConn is a connection whose name starts with the letter of its server.
type pooledConn struct {
	name   string
	closed *[]string
}

func (c pooledConn) Server() string { return c.name[:1] }

// newPool returns a pool that allows half of its connections to one server.
func newPool(most int) *scheme.Pool[string, pooledConn] {
	return scheme.NewPool[string](scheme.PoolConfig[pooledConn]{
		MaxIdle: most, MaxIdlePerServer: scheme.MaxPerServer(most), Timeout: time.Minute, Now: time.Now,
		Close: func(c pooledConn) { *c.closed = append(*c.closed, c.name) },
	})
}

func TestPool(t *testing.T) {
	for _, tt := range []struct {
		most           int
		put, left, end string // in the order of Put, newest first, and in the order of Close
	}{
		{4, "a1 b1 c1 d1", "d1 c1 b1 a1", ""},
		{4, "a1 b1 c1 d1 e1", "e1 d1 c1 b1", "a1"},
		{4, "a1 b1 a2 a3", "a3 a2 b1", "a1"},       // at most half to one server
		{4, "a1 a2 b1 b2 c1", "c1 b2 b1 a2", "a1"}, // within all limits
		{1, "a1 a2", "a2", "a1"},
		{0, "a1 a2", "", "a1 a2"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var closed []string
			p := newPool(tt.most)
			for name := range strings.FieldsSeq(tt.put) {
				p.Put(pooledConn{name, &closed})
			}
			if got := strings.Join(closed, " "); got != tt.end {
				t.Errorf("%s: %s are closed", tt.put, got)
			}
			closed = nil
			p.Close()
			if got := strings.Join(closed, " "); got != tt.left {
				t.Errorf("%s: %s are left", tt.put, got)
			}
		})
	}
}

func TestPoolEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed []string
		p := newPool(8)
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
		if c, ok := p.Take("b", func(pooledConn) bool { return false }); ok {
			t.Errorf("%s, which does not fit", c.name)
		}
		p.Close()
		expect("closed", "c1 b1", 0)
		put("a4")
		expect("after it", "a4", 0)
	})
}

// TestPoolTake requires that the most recently used connection which fits is taken, and that it is not closed.
func TestPoolTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed []string
		p := newPool(8)
		for _, name := range []string{"a1", "a2", "b1", "a3"} {
			p.Put(pooledConn{name, &closed})
		}
		take := func(server string, fits func(pooledConn) bool) string {
			c, _ := p.Take(server, fits)
			return c.name
		}
		isNotLast := func(c pooledConn) bool { return c.name != "a3" }
		for _, tt := range []struct {
			server string
			fits   func(pooledConn) bool
			want   string
		}{{"a", isNotLast, "a2"}, {"a", nil, "a3"}, {"b", nil, "b1"}, {"b", nil, ""}, {"c", nil, ""}} {
			if got := take(tt.server, tt.fits); got != tt.want {
				t.Errorf("of %s: %q, want %q", tt.server, got, tt.want)
			}
		}
		// Another request takes the connection while fits runs.
		if got := take("a", func(pooledConn) bool { return take("a", nil) != "" }); got != "" {
			t.Errorf("%q is taken twice", got)
		}
		// The entry now has another connection, which fits has not seen.
		p.Put(pooledConn{"a4", &closed})
		replaced := 4
		replaces := func(c pooledConn) bool {
			if replaced++; take("a", nil) == "" {
				t.Errorf("%s does not wait", c.name)
			}
			p.Put(pooledConn{fmt.Sprintf("a%d", replaced), &closed})
			return true
		}
		if got := take("a", replaces); got != "" {
			t.Errorf("%q is taken, which has come after it was asked for", got)
		}
		if got := take("a", nil); got != "a6" {
			t.Errorf("%q is left", got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(closed) > 0 || p.Len() > 0 {
			t.Errorf("closed: %q, and %d wait", closed, p.Len())
		}
	})
}

// TestPoolShared: with concurrent use of a pool, each connection has one user at a time; for the race detector.
func TestPoolShared(t *testing.T) {
	p := scheme.NewPool[string](scheme.PoolConfig[*sharedConn]{
		MaxIdle: 4, MaxIdlePerServer: 3, Timeout: time.Millisecond, Now: time.Now,
		Close: func(c *sharedConn) { c.uses++ },
	})
	defer p.Close()
	var users sync.WaitGroup
	for i := range 4 {
		users.Go(func() {
			for n := range 500 {
				server := string(rune('a' + (i+n)%3))
				c, ok := p.Take(server, func(*sharedConn) bool { return true })
				if !ok {
					c = &sharedConn{server: server}
				}
				c.uses++
				p.Put(c)
			}
		})
	}
	users.Wait()
	if n := p.Len(); n > 4 {
		t.Errorf("%d wait", n)
	}
}

type sharedConn struct {
	server string
	uses   int
}

func (c *sharedConn) Server() string { return c.server }
