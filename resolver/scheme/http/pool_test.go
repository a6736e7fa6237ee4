package http_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// silentClose answers n requests, and closes the connection without a response to the next one.
func silentClose(n int) func(int, net.Conn, *bufio.Reader) {
	return func(_ int, c net.Conn, in *bufio.Reader) {
		for range n {
			if readHead(in) == "" {
				return
			}
			_, _ = io.WriteString(c, empty)
		}
		if strings.Contains(readHead(in), "Content-Length: 4\r\n") {
			_, _ = in.Discard(4) // otherwise the client may not have started to send its body
		}
	}
}

// TestRepeat requires that only an idempotent request is retried, once, and only after a reused connection
// failed: RFC 9110 section 9.2.2.
func TestRepeat(t *testing.T) {
	for _, tt := range []struct {
		name, method string
		body         io.Reader
		again        bool
	}{
		{"GET", "GET", nil, true},
		{"HEAD", "HEAD", nil, true},
		{"DELETE", "DELETE", nil, true},
		{"POST", "POST", nil, false},
		{"unknown", "PROPFIND", nil, false},
		{"PUT with a body that was begun", "PUT", strings.NewReader("body"), false},
	} {
		o := serve(t, silentClose(1))
		h := newHandler(t, nil)
		request := scheme.Request{Request: httpmessage.Request{Method: tt.method, URI: parse(t, "http://"+o.addr+"/")}}
		fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: request.URI}})
		if tt.body != nil {
			request.Body, request.ContentLength = tt.body, 4
		}
		r, err := h.Fetch(t.Context(), request)
		if (err == nil) != tt.again || err != nil && !errors.Is(err, resolver.ErrUnreachable) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil {
			r.Body.Close()
		}
		if got := o.connections(); got != 1 && !tt.again || got != 2 && tt.again {
			t.Errorf("%s: %d connections", tt.name, got)
		}
	}
}

// closable is a body that cannot be read after Close.
type closable struct {
	io.Reader
	closed atomic.Bool
}

func (c *closable) Read(p []byte) (int, error) {
	if c.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	return c.Reader.Read(p)
}

func (c *closable) Close() error {
	c.closed.Store(true)
	return nil
}

// TestRepeatWithBody: a body delayed by Expect is still complete for the retry: RFC 9110 section 10.1.1.
func TestRepeatWithBody(t *testing.T) {
	o := serve(t, func(n int, c net.Conn, in *bufio.Reader) {
		readHead(in)
		if n == 0 {
			_, _ = io.WriteString(c, empty)
			readHead(in)
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		b := make([]byte, 4)
		_, err := io.ReadFull(in, b)
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n\r\n%s %v", b, err)
	})
	h := newHandler(t, func(c *schemehttp.Config) { c.ContinueTimeout = time.Hour })
	u := parse(t, "http://"+o.addr+"/")
	fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: u}})
	sent := &closable{Reader: strings.NewReader("body")}
	_, text := fetch(t, h, scheme.Request{Request: httpmessage.Request{
		Method: "PUT", URI: u, Fields: httpmessage.NewFields("Expect", "100-continue"),
		Body: sent, ContentLength: 4,
	}})
	if text != "body <nil>" || o.connections() != 2 || !sent.closed.Load() {
		t.Errorf("%q, %d connections, closed: %t", text, o.connections(), sent.closed.Load())
	}
}

// TestReuseTLS requires that a TLS connection is reused.
func TestReuseTLS(t *testing.T) {
	o, _ := serveTLS(t, always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"))
	guard := netguard.New(time.Second,
		netip.MustParsePrefix("127.0.0.0/8")).WithLookup(func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}).WithLimiter(make(quota.Semaphore, 1))
	h := newHandler(t, func(c *schemehttp.Config) {
		c.Dial, c.TLS = guard.WithIdleTimeout(time.Minute), &tls.Config{InsecureSkipVerify: true}
	})
	_, port, _ := net.SplitHostPort(o.addr)
	for range 3 {
		if _, text := fetch(t, h,
			scheme.Request{Request: httpmessage.Request{
				Method: "GET",
				URI:    parse(t, "https://a.example:"+port+"/"),
			}}); text != "a" {
			t.Errorf("%q", text)
		}
	}
	if o.connections() != 1 {
		t.Errorf("%d connections", o.connections())
	}
}

// TestNoEndlessRepeat has an origin that never answers: a request is retried on one new connection only.
func TestNoEndlessRepeat(t *testing.T) {
	var requested atomic.Int64
	o := serve(t, func(n int, c net.Conn, in *bufio.Reader) {
		for readHead(in) != "" {
			if requested.Add(1); n > 0 {
				return
			}
			if requested.Load() > 1 {
				return
			}
			_, _ = io.WriteString(c, empty)
		}
	})
	h := newHandler(t, nil)
	fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+o.addr+"/")}})
	if _, err := get(t, h, "http://"+o.addr+"/"); !errors.Is(err, resolver.ErrUnreachable) || !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	if requested.Load() != 3 {
		t.Errorf("asked %d times", requested.Load())
	}
}

// TestNoRepeatAfterFirstByte requires that a request is not retried once the response has started.
func TestNoRepeatAfterFirstByte(t *testing.T) {
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(c, empty)
		readHead(in)
		_, _ = io.WriteString(c, "H")
	})
	h := newHandler(t, nil)
	fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+o.addr+"/")}})
	if _, err := get(t, h, "http://"+o.addr+"/"); !errors.Is(err, io.ErrUnexpectedEOF) || o.connections() != 1 {
		t.Errorf("%v, %d connections", err, o.connections())
	}
}

// TestDeadConnections requires that an idle connection which the origin closed, or on which it sent bytes, is
// not used: even a POST succeeds.
func TestDeadConnections(t *testing.T) {
	for name, message := range map[string]string{
		"closed": "",
		"bytes":  "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake",
	} {
		for _, secure := range []bool{false, true} {
			reported := make(chan struct{}, 4)
			release := make(chan struct{})
			handle := func(n int, c net.Conn, in *bufio.Reader) {
				readHead(in)
				_, _ = io.WriteString(c, empty)
				if n > 0 {
					return
				}
				<-release
				_, _ = io.WriteString(c, message)
				if message == "" {
					c.Close()
				}
				reported <- struct{}{}
				_, _ = in.ReadByte()
			}
			var o *origin
			h := newHandler(t, nil)
			address := "http://"
			if secure {
				o, h = serveTLS(t, handle)
				address = "https://"
			} else {
				o = serve(t, handle)
			}
			fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, address+o.addr+"/")}})
			close(release)
			<-reported
			r, text := fetch(t, h,
				scheme.Request{Request: httpmessage.Request{Method: "POST", URI: parse(t, address+o.addr+"/")}})
			if r.Status != 200 || text != "" || o.connections() != 2 {
				t.Errorf("%s, TLS %t: %d %q, %d connections", name, secure, r.Status, text, o.connections())
			}
		}
	}
}

// TestRecordAfterTheEnd: a response that arrives in the TLS record of the previous one is unsolicited, and not
// used.
func TestRecordAfterTheEnd(t *testing.T) {
	o, h := serveTLS(t, func(n int, c net.Conn, in *bufio.Reader) {
		readHead(in)
		if n > 0 {
			_, _ = io.WriteString(c, empty)
			return
		}
		segment := c.(*tls.Conn).NetConn().(*corked)
		segment.held = new(bytes.Buffer)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake")
		_, _ = segment.Conn.Write(segment.held.Bytes())
		segment.held = nil
		_, _ = in.ReadByte()
	})
	for _, want := range []string{"ok", ""} {
		if _, text := fetch(t, h,
			scheme.Request{Request: httpmessage.Request{
				Method: "GET",
				URI:    parse(t, "https://"+o.addr+"/"),
			}}); text != want {
			t.Errorf("got %q, want %q", text, want)
		}
	}
}

// corked buffers writes while held is not nil.
type corked struct {
	net.Conn
	held *bytes.Buffer
}

func (c *corked) Write(p []byte) (int, error) {
	if c.held != nil {
		return c.held.Write(p)
	}
	return c.Conn.Write(p)
}

// corking wraps the connections of a listener with corked.
type corking struct{ net.Listener }

func (l corking) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &corked{Conn: c}, nil
}

// serveTLS starts an origin with TLS, and returns a Handler that trusts it.
func serveTLS(t testing.TB, handle func(int, net.Conn, *bufio.Reader)) (*origin, *schemehttp.Handler) {
	t.Helper()
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	t.Cleanup(certified.Close)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := serveOn(t, tls.NewListener(corking{listener}, &tls.Config{Certificates: certified.TLS.Certificates}), handle)
	h := newHandler(t, func(c *schemehttp.Config) {
		c.TLS = certified.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	})
	return o, h
}

// clock is a manual clock.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// TestIdleTimeout requires that an idle connection is not used after its timeout, and is closed then.
func TestIdleTimeout(t *testing.T) {
	o := serve(t, always(empty))
	var c clock
	h := newHandler(t, func(config *schemehttp.Config) { config.Now, config.IdleTimeout = c.now, time.Minute })
	for _, tt := range []struct {
		passes time.Duration
		want   int
	}{{0, 1}, {time.Minute - time.Second, 1}, {time.Minute, 2}} {
		c.advance(tt.passes)
		fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+o.addr+"/")}})
		if got := o.connections(); got != tt.want {
			t.Errorf("after %s: %d connections", tt.passes, got)
		}
	}
	ended := make(chan struct{})
	silent := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		always(empty)(0, c, in)
		close(ended)
	})
	short := newHandler(t, func(config *schemehttp.Config) { config.IdleTimeout = time.Millisecond })
	fetch(t, short,
		scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+silent.addr+"/")}})
	<-ended
}

// TestIdleBounds requires that the limits of idle connections hold, per host and in total.
func TestIdleBounds(t *testing.T) {
	for _, tt := range []struct {
		max, perHost, hosts, each, want int // want: number of connections that are reused
	}{
		{8, 2, 1, 5, 2}, {3, 2, 3, 2, 3}, {0, 2, 1, 2, 0}, {64, 0, 1, 32, 32},
	} {
		h := newHandler(t, func(c *schemehttp.Config) { c.MaxIdle, c.MaxIdlePerHost = tt.max, tt.perHost })
		var origins []*origin
		for range tt.hosts {
			origins = append(origins, serve(t, always("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")))
		}
		opened := func() (n int) {
			var all []*scheme.Resource
			for _, o := range origins {
				for range tt.each { // concurrently
					r, err := get(t, h, "http://"+o.addr+"/")
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, r)
				}
			}
			for _, r := range all {
				if _, err := body(r); err != nil {
					t.Error(err)
				}
			}
			for _, o := range origins {
				n += o.connections()
			}
			return n
		}
		total := tt.hosts * tt.each
		if first, second := opened(), opened(); first != total || second != 2*total-tt.want {
			t.Errorf("%+v: %d connections, then %d", tt, first, second)
		}
	}
}

// TestClose requires that Close closes the idle connections, and those in use after their exchange.
func TestClose(t *testing.T) {
	ended := make(chan struct{}, 2)
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		always("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")(0, c, in)
		ended <- struct{}{}
	})
	h := newHandler(t, nil)
	var used []*scheme.Resource
	for range 2 {
		r, err := get(t, h, "http://"+o.addr+"/")
		if err != nil {
			t.Fatal(err)
		}
		used = append(used, r)
	}
	if _, err := body(used[0]); err != nil {
		t.Error(err)
	}
	h.Close()
	<-ended
	if text, err := body(used[1]); err != nil || text != "a" {
		t.Errorf("%q, %v", text, err)
	}
	<-ended
}

// TestCloseBeforeTheEnd: closing a body early closes its connection.
func TestCloseBeforeTheEnd(t *testing.T) {
	o := serve(t, always("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"))
	h := newHandler(t, nil)
	for range 2 {
		r, err := get(t, h, "http://"+o.addr+"/")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	if o.connections() != 2 {
		t.Errorf("%d connections", o.connections())
	}
}

// TestErrors requires that errors wrap their kinds and causes.
func TestErrors(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	silent := serve(t, func(_ int, _ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) })
	stalls := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA")
		_, _ = io.Copy(io.Discard, in)
	})
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	untrusted.Config.ErrorLog = nil
	noName := &net.DNSError{Err: "no such host", Name: "a.example", IsNotFound: true}
	guard := netguard.New(time.Second,
		netip.MustParsePrefix("127.0.0.0/8")).WithLookup(func(context.Context, string) ([]netip.Addr, error) {
		return nil, noName
	})
	var certificate *tls.CertificateVerificationError
	var dns *net.DNSError
	for _, tt := range []struct {
		target string
		kind   error
		cause  error
		as     any
	}{
		{"http://" + closed.Addr().String() + "/", resolver.ErrUnreachable, syscall.ECONNREFUSED, nil},
		{"http://a.example/", resolver.ErrUnreachable, nil, &dns},
		{"http://10.0.0.1/", resolver.ErrForbidden, netguard.ErrForbidden, nil},
		{"http://" + silent.addr + "/", context.DeadlineExceeded, os.ErrDeadlineExceeded, nil},
		{"http://" + stalls.addr + "/", context.DeadlineExceeded, os.ErrDeadlineExceeded, nil},
		{untrusted.URL, resolver.ErrUnreachable, nil, &certificate},
	} {
		h := newHandler(t, func(c *schemehttp.Config) {
			c.Dial, c.HeaderTimeout = guard.DialContext, 50*time.Millisecond
		})
		_, err := get(t, h, tt.target)
		if !errors.Is(err, tt.kind) || tt.cause != nil && !errors.Is(err, tt.cause) ||
			tt.as != nil && !errors.As(err, tt.as) {
			t.Errorf("%s: %v", tt.target, err)
		}
	}
}

// TestCancel requires that ctx cancels an exchange in each phase.
func TestCancel(t *testing.T) {
	cause := errors.New("the client left")
	for name, message := range map[string]string{
		"head": "", "body": "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo",
		"chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbo",
	} {
		for _, dialling := range []func(context.Context, string, string) (net.Conn, error){
			dial, netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8")).WithIdleTimeout(time.Hour),
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
				readHead(in)
				_, _ = io.WriteString(c, message)
				cancel(cause)
				_, _ = in.ReadByte()
			})
			h := newHandler(t, func(c *schemehttp.Config) { c.Dial = dialling })
			r, err := h.Fetch(ctx,
				scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+o.addr+"/")}})
			if err == nil {
				_, err = body(r)
			}
			if !errors.Is(err, cause) || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

var errRefused = errors.New("refused by the request")

// TestCheck requires that Check is called for each dialed address, and for an idle connection.
func TestCheck(t *testing.T) {
	o := serve(t, always(empty))
	dialled := 0
	guard := netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8"))
	for name, change := range map[string]func(*schemehttp.Config){
		"DialChecked": func(c *schemehttp.Config) {
			c.DialChecked = func(ctx context.Context, network, address string,
				check func(netip.AddrPort) error,
			) (net.Conn, error) {
				return guard.WithCheck(check).DialContext(ctx, network, address)
			}
		},
		"Dial": nil,
	} {
		h := newHandler(t, change)
		for range 2 { // the second request finds an idle connection
			_, err := h.Fetch(t.Context(), scheme.Request{
				Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+o.addr+"/")},
				Check:   func(a netip.AddrPort) error { return fmt.Errorf("%w: %s", errRefused, a) },
			})
			if !errors.Is(err, errRefused) || !errors.Is(err, resolver.ErrForbidden) ||
				!strings.Contains(err.Error(), o.addr) {
				t.Errorf("%s: %v", name, err)
			}
			dialled += map[string]int{"Dial": 1}[name] // Check is called after Dial
			testserver.Wait(t, "the origin has accepted what was dialled",
				func() bool { return o.connections() == dialled })
			for range 2 {
				fetch(t, h, scheme.Request{
					Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+o.addr+"/")},
					Check:   func(netip.AddrPort) error { return nil },
				})
			}
			if got := o.connections() - dialled; got > 1 {
				t.Errorf("%s: %d connections", name, got)
			} else {
				dialled += got
			}
		}
	}
}

// TestReuseAfterReadTimeout requires that an idle connection is reusable after the timeout of a read.
func TestReuseAfterReadTimeout(t *testing.T) {
	const timeout = 500 * time.Millisecond
	o := serve(t, silentClose(2))
	h := newHandler(t, func(c *schemehttp.Config) {
		c.Dial = netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8")).WithIdleTimeout(timeout)
	})
	request := scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+o.addr+"/")}}
	fetch(t, h, request)
	since := time.Now()
	testserver.Wait(t, "a read would be over", func() bool { return time.Since(since) > timeout })
	fetch(t, h, request)
	if n := o.connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}
