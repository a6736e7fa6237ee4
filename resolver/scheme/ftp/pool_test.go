package ftp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
)

// counting counts control connections, and keeps the latest one.
func counting(n *atomic.Int64, last *atomic.Pointer[net.Conn], address string) func(*Config) {
	return func(c *Config) {
		c.TLS = TLSNever
		dial := c.Dial
		c.Dial = func(ctx context.Context, network, to string, check func(netip.AddrPort) error) (net.Conn, error) {
			conn, err := dial(ctx, network, to, check)
			if err == nil && to == address {
				n.Add(1)
				last.Store(&conn)
			}
			return conn, err
		}
	}
}

func TestPool(t *testing.T) {
	var n atomic.Int64
	var last atomic.Pointer[net.Conn]
	f := &fake{replies: map[string]string{"PWD": `257 "/ho""me" is it`, "CWD gone": "421 bye", "CWD none": "550 none"}}
	address := f.start(t)
	h := handler(t, counting(&n, &last, address))
	for _, c := range []struct {
		what, path string
		before     func()
		dialled    int64
	}{
		{"the first", "/a/x.txt", nil, 1},
		{"again", "/b/x.txt", nil, 1},
		{"after a refusal", "/none/x.txt", nil, 1},
		{"a listing", "/", nil, 1},
		{"closed meanwhile", "/a/x.txt", func() { (*last.Load()).(*net.TCPConn).CloseWrite() }, 2},
		{"421", "/gone/x.txt", nil, 2},
		{"after it", "/a/x.txt", nil, 3},
	} {
		if c.before != nil {
			c.before()
		}
		_, _, err := get(t, h, "ftp://"+address+c.path)
		if refused := strings.Contains(c.path, "none") || strings.Contains(c.path, "gone"); (err != nil) != refused {
			t.Errorf("%s: %v", c.what, err)
		}
		if got := n.Load(); got != c.dialled {
			t.Errorf("%s: %d connections, want %d", c.what, got, c.dialled)
		}
	}
	if want := "RETR x.txt\nCWD /ho\"me\nPWD\nCWD b\n"; !strings.Contains(f.sent(), want) {
		t.Errorf("it sends %q, want the directory of the login before the next: %q", f.sent(), want)
	}
}

// TestStrayReply: a late or surplus reply must not be taken for the reply to the next request.
func TestStrayReply(t *testing.T) {
	for _, stray := range []string{
		"250 done", "226 all sent", "213 99", "550 none", "421 bye",
		"250 done\r\n250 done",
	} {
		f := &fake{replies: map[string]string{"SIZE a": "213 10", "SIZE b": "213 10"}}
		address := f.start(t)
		h := handler(t, func(c *Config) { c.TLS = TLSNever })
		for _, name := range []string{"a", "b", "a"} {
			if _, body, err := get(t, h, "ftp://"+address+"/d/"+name); err != nil || body != "0123456789" {
				t.Errorf("after %q: %q, %v", stray, body, err)
			}
			f.stray(t, stray)
		}
	}
}

// TestVaryByLogin: a response stored for all clients must not be served to a client that sends Authorization.
func TestVaryByLogin(t *testing.T) {
	f := &fake{names: []string{"a"}}
	address := f.start(t)
	h := handler(t, func(c *Config) { c.TLS = TLSNever })
	for _, path := range []string{"/", "/a"} {
		resource, _, err := get(t, h, "ftp://"+address+path)
		if err != nil || resource.Fields.Get("Vary") != "Authorization" {
			t.Errorf("%s: %v, %v", path, resource.Fields, err)
		}
		resource, _, err = get(t, h, "ftp://"+address+path, "Authorization", "Basic YW5uYTpnZWhlaW0=")
		if err != nil || resource.Fields.Get("Cache-Control") != "no-store" {
			t.Errorf("%s with a password: %v, %v", path, resource.Fields, err)
		}
	}
}

// TestPoolLogin: a connection must not be reused for a user with another password.
func TestPoolLogin(t *testing.T) {
	var n atomic.Int64
	var last atomic.Pointer[net.Conn]
	f := &fake{replies: map[string]string{"PASS falsch": "530 wrong"}}
	address := f.start(t)
	h := handler(t, counting(&n, &last, address))
	for _, user := range []string{"anna:geheim@", "anna:geheim@", "otto:geheim@", ""} {
		if _, _, err := get(t, h, "ftp://"+user+address+"/x.txt"); err != nil {
			t.Errorf("%s: %v", user, err)
		}
	}
	if _, _, err := get(t, h, "ftp://anna:falsch@"+address+"/x.txt"); err == nil {
		t.Error("a wrong password is as good as the right one")
	}
	if got := n.Load(); got != 4 {
		t.Errorf("%d connections, want 4", got)
	}
}

// TestPoolCheck: a request whose Check denies the server must not reuse a connection to it.
func TestPoolCheck(t *testing.T) {
	var n atomic.Int64
	var last atomic.Pointer[net.Conn]
	f := &fake{}
	address := f.start(t)
	h := handler(t, counting(&n, &last, address))
	if _, _, err := get(t, h, "ftp://"+address+"/x.txt"); err != nil {
		t.Fatal(err)
	}
	before := f.sent()
	r := request(t, http.MethodGet, "ftp://"+address+"/x.txt")
	r.Check = func(netip.AddrPort) error { return resolver.ErrForbidden }
	if _, _, err := do(t, h, r); !errors.Is(err, resolver.ErrForbidden) || f.sent() != before {
		t.Errorf("%v, and %q is sent", err, f.sent())
	}
	if h.pool.Len() != 1 {
		t.Error("the connection does not wait for others")
	}
}

func TestPoolBounds(t *testing.T) {
	f := &fake{}
	address := f.start(t)
	idle := handler(t, func(c *Config) { c.TLS, c.IdleTimeout, c.Now = TLSNever, time.Millisecond, time.Now })
	few := handler(t, func(c *Config) { c.TLS, c.MaxIdle = TLSNever, 1 })
	none := handler(t, func(c *Config) { c.TLS, c.MaxIdle = TLSNever, 0 })
	for _, h := range []*Handler{idle, few, none} {
		for _, user := range []string{"", "anna:a@"} {
			if _, _, err := get(t, h, "ftp://"+user+address+"/x.txt"); err != nil {
				t.Fatal(err)
			}
		}
	}
	testserver.Wait(t, "no connection waits any more", func() bool { return idle.pool.Len() == 0 })
	if a, b := few.pool.Len(), none.pool.Len(); a != 1 || b != 0 {
		t.Errorf("%d and %d connections wait, want 1 and none", a, b)
	}
	few.Close()
	if _, _, err := get(t, few, "ftp://"+address+"/x.txt"); err != nil || few.pool.Len() != 0 {
		t.Errorf("after Close: %v, and %d wait", err, few.pool.Len())
	}
}
