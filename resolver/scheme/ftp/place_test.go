package ftp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// piped is an in-memory connection with the address of a server.
type piped struct{ net.Conn }

func (piped) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:21"))
}

// overPipes dials control connections to a fake in memory; dialing a data connection blocks.
func overPipes(t *testing.T, f *fake) func(*Config) {
	var wait sync.WaitGroup
	t.Cleanup(wait.Wait)
	return func(c *Config) {
		c.TLS = TLSNever
		c.Dial = func(ctx context.Context, _, address string, _ func(netip.AddrPort) error) (net.Conn, error) {
			if !strings.HasSuffix(address, ":21") {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			ours, theirs := net.Pipe()
			wait.Go(func() { f.serve(theirs) })
			return piped{ours}, nil
		}
	}
}

// TestNoDataConnection requires that waiting for a data connection has the timeout of a reply.
func TestNoDataConnection(t *testing.T) {
	for _, path := range []string{"/a.txt", "/"} {
		synctest.Test(t, func(t *testing.T) {
			h := handler(t, overPipes(t, &fake{replies: map[string]string{"EPSV": "229 (|||5001|)"}}))
			start := time.Now()
			_, _, err := get(t, h, "ftp://127.0.0.1"+path)
			if !errors.Is(err, resolver.ErrBusy) || time.Since(start) > h.config.Limits.Timeout {
				t.Errorf("%s: %v after %v", path, err, time.Since(start))
			}
		})
	}
}

// TestSlots has more requests than allowed connections, of which each request needs two.
func TestSlots(t *testing.T) {
	f := &fake{}
	at := "ftp://" + f.start(t)
	guard := netguard.New(time.Minute, netip.MustParsePrefix("127.0.0.0/8")).WithLimiter(make(quota.Semaphore, 4))
	h := handler(t, func(c *Config) {
		c.TLS, c.MaxIdle, c.MaxFetches = TLSNever, 1, 2
		c.Dial = func(ctx context.Context, network, address string,
			check func(netip.AddrPort) error,
		) (net.Conn, error) {
			return guard.WithCheck(check).DialContext(ctx, network, address)
		}
	})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, text, err := get(t, h, at+"/a.txt"); err != nil || text != "0123456789" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	wait.Wait()
}

// TestMaxFetches: a request waits for the end of another's stream, with a timeout.
func TestMaxFetches(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	f := &fake{body: func() io.Reader {
		return io.MultiReader(strings.NewReader(strings.Repeat("a", 2*scheme.SniffLength)), in)
	}}
	at := "ftp://" + f.start(t)
	h := handler(t, func(c *Config) { c.TLS, c.MaxFetches = TLSNever, 1 })
	first, err := h.Fetch(t.Context(), request(t, http.MethodGet, at+"/a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	h.config.Limits.Timeout = time.Millisecond
	if _, _, err := get(t, h, at+"/a.txt"); !errors.Is(err, resolver.ErrBusy) {
		t.Errorf("a second request: %v", err)
	}
	h.config.Limits.Timeout = settings().Limits.Timeout
	first.Body.Close()
	if _, _, err := do(t, h, request(t, http.MethodHead, at+"/a.txt")); err != nil {
		t.Errorf("after the first: %v", err)
	}
	if _, _, err := get(t, h, strings.Replace(at, "127.0.0.1:", "127.0.0.2:1", 1)+"/"); err == nil ||
		len(h.places) != 0 {
		t.Errorf("%v, and %d requests run", err, len(h.places))
	}
}

// TestSilentIdle has a server that no longer replies on idle connections.
func TestSilentIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var silent atomic.Bool
		f := &fake{replies: map[string]string{"SIZE": "213 10"}, slow: func(command string) {
			if command == "CWD /" && silent.Load() {
				time.Sleep(time.Hour)
			}
		}}
		h := handler(t, overPipes(t, f), func(c *Config) { c.MaxIdle, c.IdleTimeout = 16, time.Hour })
		r := request(t, http.MethodHead, "ftp://127.0.0.1/a.txt")
		where, err := h.newTarget(r)
		if err != nil {
			t.Fatal(err)
		}
		for range 16 {
			c, err := h.connect(t.Context(), r, where)
			if err != nil {
				t.Fatal(err)
			}
			h.pool.Put(c)
		}
		silent.Store(true)
		start := time.Now()
		if _, _, err := do(t, h, r); err != nil || time.Since(start) > livenessTimeout || h.pool.Len() != 1 {
			t.Errorf("%v after %v, and %d connections wait", err, time.Since(start), h.pool.Len())
		}
	})
}

// TestManyCommands: one timeout covers all commands of a request.
func TestManyCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{slow: func(string) { time.Sleep(time.Second) }}
		h := handler(t, overPipes(t, f))
		start := time.Now()
		_, _, err := get(t, h, "ftp://127.0.0.1/"+strings.Repeat("a/", maxDirs)+"x")
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, resolver.ErrBusy) ||
			time.Since(start) != h.config.Limits.Timeout {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
	f := &fake{}
	at, h := "ftp://"+f.start(t)+"/", handler(t, func(c *Config) { c.TLS = TLSNever })
	if _, _, err := get(t, h, at+strings.Repeat("a/", maxDirs)+"x"); err != nil {
		t.Errorf("%d directories: %v", maxDirs, err)
	}
	before := f.sent()
	if _, _, err := get(t, h, at+strings.Repeat("a/", maxDirs+1)); !errors.As(err, new(*uri.ParseError)) ||
		f.sent() != before {
		t.Errorf("more: %v", err)
	}
}
