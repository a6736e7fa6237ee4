package http_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	framing "golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// http2Origin is an HTTP/2 server that counts its connections.
type http2Origin struct {
	*httptest.Server
	opened, closed atomic.Int64
}

func serveHTTP2(
	t testing.TB, handler http.HandlerFunc, change func(*schemehttp.Config),
) (*http2Origin, *schemehttp.Handler) {
	t.Helper()
	o := &http2Origin{Server: httptest.NewUnstartedServer(handler)}
	o.EnableHTTP2 = true
	o.Config.DisableGeneralOptionsHandler = true
	o.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			o.opened.Add(1)
		case http.StateClosed:
			o.closed.Add(1)
		}
	}
	o.StartTLS()
	t.Cleanup(o.Close)
	h := newHandler(t, func(c *schemehttp.Config) {
		c.TLS = o.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		if change != nil {
			change(c)
		}
	})
	return o, h
}

// TestHTTP2 requires that requests and responses are the same over HTTP/2: RFC 9113 section 8.
func TestHTTP2(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		w.Header()["Date"] = nil
		w.Header().Set("Pragma", "no-cache")
		w.Header().Set("Trailer", "A")
		w.WriteHeader(599)
		fmt.Fprintf(w, "%s %s %s %s %v %q %v %v %v", r.Proto, r.Method, r.RequestURI, r.Host, r.Header, b, err,
			r.Trailer, r.ContentLength)
		w.Header().Set("A", "b")
		w.Header().Set(http.TrailerPrefix+"C", "d")
	}, nil)
	host := strings.TrimPrefix(o.URL, "https://")
	for _, tt := range []struct {
		request scheme.Request
		target  string
		want    string
	}{
		{
			scheme.Request{Request: httpmessage.Request{
				Method: "GET",
				Fields: httpmessage.NewFields("Connection", "close", "Te", "trailers", "X", "1", "X",
					"2"),
			}},
			"//a/../%7e;b?c&d=?",
			"HTTP/2.0 GET //a/../%7e;b?c&d=? HOST map[Te:[trailers] X:[1 2]] \"\" <nil> map[] 0",
		},
		{
			scheme.Request{Request: httpmessage.Request{
				Method: "POST", Body: strings.NewReader("body"),
				ContentLength: 4,
			}},
			"/",
			"HTTP/2.0 POST / HOST map[Content-Length:[4]] \"body\" <nil> map[] 4",
		},
		{
			scheme.Request{Request: httpmessage.Request{
				Method: "POST", Body: strings.NewReader("body"), ContentLength: -1,
				Trailer: &httpmessage.Trailer{Names: []string{"T"}, Fields: httpmessage.NewFields("T", "u")},
			}},
			"/",
			"HTTP/2.0 POST / HOST map[] \"body\" <nil> map[T:[u]] -1",
		},
		{scheme.Request{Request: httpmessage.Request{
			Method: "POST", Fields: httpmessage.NewFields("Expect", "100-continue"),
			Body: strings.NewReader("body"), ContentLength: 4,
		}}, "/", "HTTP/2.0 POST / HOST map[Content-Length:[4]] \"body\" <nil> map[] 4"},
	} {
		var interim interims
		tt.request.Interim = &interim
		tt.request.URI = parse(t, o.URL+tt.target)
		r, text := fetch(t, h, tt.request)
		if want := strings.ReplaceAll(tt.want, "HOST", host); r.Status != 599 || text != want {
			t.Errorf("%d\n%s\nwant\n%s", r.Status, text, want)
		}
		if len(interim) != 1 || interim[0] != "103 [{Link </a>}]" {
			t.Errorf("interim %v", interim)
		}
		if want := httpmessage.NewFields("A", "b", "C", "d"); !slices.Equal(r.Trailer.Fields, want) {
			t.Errorf("trailer %v", r.Trailer)
		}
		if r.Fields.Get("Cache-Control") != "" || r.RemoteAddr.String() != host {
			t.Errorf("header %v from %s", r.Fields, r.RemoteAddr)
		}
	}
}

// TestHTTP2OfSite: a server of a site gets the host of the site, which is not its own: RFC 9113 section 8.3.1.
func TestHTTP2OfSite(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host, " ", r.RequestURI) },
		nil)
	for _, host := range []string{
		"www.example.org", "www.example.org:8443", "[2001:db8::1]:8443",
		"xn--bcher-kva.example",
	} {
		for _, target := range []string{"/", "/a?b", "//a", "/?//a"} {
			r, text := fetch(t, h,
				scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, o.URL+target), Host: host}})
			if want := host + " " + target; r.Status != 200 || text != want {
				t.Errorf("%d %s, want %s", r.Status, text, want)
			}
		}
	}
}

// TestHTTP2OfServer: the target for the server as a whole is "*": RFC 9113 section 8.3.1.
func TestHTTP2OfServer(t *testing.T) {
	requested := make(chan string, 1)
	o, h := serveHTTP2(t, func(_ http.ResponseWriter, r *http.Request) { requested <- r.RequestURI }, nil)
	fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "OPTIONS", URI: parse(t, o.URL)}})
	if got := <-requested; got != "*" {
		t.Errorf("asked for %s", got)
	}
}

// TestHTTP2WithoutContent: a response may have the Content-Length of content that it does not have: RFC 9110
// section 8.6.
func TestHTTP2WithoutContent(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Length", "7")
	}, nil)
	for method, want := range map[string]int64{"GET": 0, "HEAD": 7} {
		r, text := fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: method, URI: parse(t, o.URL+"/")}})
		if text != "" || r.ContentLength != want {
			t.Errorf("%s: %q of %d", method, text, r.ContentLength)
		}
	}
}

// TestHTTP2Bounds requires that the limit of connections holds.
func TestHTTP2Bounds(t *testing.T) {
	release := make(chan struct{})
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			_ = http.NewResponseController(w).Flush()
			<-release
		}
	}
	one, h := serveHTTP2(t, answer, func(c *schemehttp.Config) { c.MaxIdle = 1 })
	two, _ := serveHTTP2(t, answer, nil)
	fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, one.URL+"/")}})
	fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, two.URL+"/")}})
	testserver.Wait(t, "the idle connection is closed", func() bool { return one.closed.Load() == 1 })
	held, err := get(t, h, two.URL+"/held")
	if err != nil {
		t.Fatal(err)
	}
	fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, one.URL+"/")}})
	testserver.Wait(t, "the connection without room is closed", func() bool { return one.closed.Load() == 2 })
	close(release)
	if _, err := body(held); err != nil || two.closed.Load() != 0 {
		t.Errorf("%v, %d closed", err, two.closed.Load())
	}
}

// TestHTTP2Connections requires that exchanges share a connection, which is reused, and closed in the end.
func TestHTTP2Connections(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }, nil)
	fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, o.URL+"/")}})
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			r, err := h.Fetch(t.Context(), scheme.Request{
				Request: httpmessage.Request{Method: "GET", URI: parse(t, o.URL+"/")},
				Check:   func(netip.AddrPort) error { return nil },
			})
			if err != nil {
				t.Error(err)
				return
			}
			if text, err := body(r); text != "ok" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	all.Wait()
	if got := o.opened.Load(); got != 1 {
		t.Errorf("%d connections", got)
	}
	if _, err := h.Fetch(t.Context(), scheme.Request{
		Request: httpmessage.Request{Method: "GET", URI: parse(t, o.URL+"/")},
		Check:   func(netip.AddrPort) error { return errRefused },
	}); !errors.Is(err, errRefused) {
		t.Errorf("a check: %v", err)
	}
	held, err := get(t, h, o.URL+"/")
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	if text, err := body(held); text != "ok" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	testserver.Wait(t, "the connections are closed", func() bool { return o.closed.Load() == o.opened.Load() })
}

// TestHTTP2WithoutKeepAlive: without keep-alive a connection carries one exchange.
func TestHTTP2WithoutKeepAlive(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") },
		func(c *schemehttp.Config) { c.MaxIdle = 0 })
	for range 2 {
		fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, o.URL+"/")}})
	}
	testserver.Wait(t, "the connections are closed",
		func() bool { return o.opened.Load() == 2 && o.closed.Load() == 2 })
}

// TestHTTP2Upgrade: HTTP/2 has no Upgrade, so such a request uses HTTP/1.1: RFC 9113 section 8.6.
func TestHTTP2Upgrade(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }, nil)
	for _, tt := range []struct {
		header httpmessage.Fields
		want   string
	}{{nil, "HTTP/2.0"}, {httpmessage.NewFields("Upgrade", "a"), "HTTP/1.1"}, {nil, "HTTP/2.0"}} {
		if _, text := fetch(t, h,
			scheme.Request{Request: httpmessage.Request{
				Method: "GET", URI: parse(t, o.URL+"/"),
				Fields: tt.header,
			}}); text != tt.want {
			t.Errorf("%v: %s", tt.header, text)
		}
	}
}

func TestHTTP2Failures(t *testing.T) {
	release := make(chan struct{})
	o, h := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/abort":
			fmt.Fprint(w, "bo")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/silent":
			select {
			case <-release:
			case <-r.Context().Done():
			}
		default:
			_, _ = io.Copy(io.Discard, r.Body)
		}
	}, func(c *schemehttp.Config) { c.HeaderTimeout = 100 * time.Millisecond })
	defer close(release)
	r, err := get(t, h, o.URL+"/abort")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := body(r); text != "bo" || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := get(t, h, o.URL+"/silent"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	failing := broken{strings.NewReader("bo"), make(chan struct{}, 1)}
	_, err = h.Fetch(t.Context(),
		scheme.Request{Request: httpmessage.Request{
			Method: "PUT", URI: parse(t, o.URL+"/"), Body: failing,
			ContentLength: 4,
		}})
	if !errors.Is(err, scheme.ErrRequestBody) || !errors.Is(err, errBroken) || errors.Is(err, resolver.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	cause := errors.New("the client left")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	if _, err := h.Fetch(ctx,
		scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, o.URL+"/silent")}}); !errors.Is(err,
		cause) || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestHTTP2Lengths: an invalid Content-Length is rejected as in HTTP/1.1, and not forwarded: RFC 9113 section
// 8.1.1.
func TestHTTP2Lengths(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Length"] = []string{r.URL.Query().Get("n")} // net/http sends none above 2^63-1
	}, nil)
	for length, refused := range map[string]bool{"5": false, "4611686018427387904": true, "9223372036854775807": true} {
		resource, err := h.Fetch(t.Context(),
			scheme.Request{Request: httpmessage.Request{Method: http.MethodHead, URI: parse(t, o.URL+"/?n="+length)}})
		if errors.Is(err, scheme.ErrInvalidResponse) != refused {
			t.Errorf("%s: %v", length, err)
		}
		if err == nil {
			_ = resource.Body.Close()
		}
	}
}

// TestHTTP2Stall: the rest of a response that does not come is a timeout, although other responses come by the same
// connection.
func TestHTTP2Stall(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "bo")
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/stall" {
			<-r.Context().Done()
		}
	}, func(c *schemehttp.Config) { c.StallTimeout = 200 * time.Millisecond })
	stalled, err := get(t, h, o.URL+"/stall")
	if err != nil {
		t.Fatal(err)
	}
	var others sync.WaitGroup
	defer others.Wait()
	done := make(chan struct{})
	others.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if r, err := get(t, h, o.URL+"/"); err == nil {
					_, _ = body(r)
				}
			}
		}
	})
	if text, err := body(stalled); text != "bo" || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", text, err)
	}
	close(done)
}

// TestHTTP2Window: an origin may send 1 MiB of an unread response, by RFC 9113 section 6.9.2.
func TestHTTP2Window(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var origin sync.WaitGroup
	defer origin.Wait()
	origin.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if _, err := io.ReadFull(conn, make([]byte, len(framing.ClientPreface))); err != nil {
			t.Error(err)
			return
		}
		frame, err := framing.NewFramer(conn, conn).ReadFrame()
		settings, ok := frame.(*framing.SettingsFrame)
		if !ok {
			t.Errorf("%v, %v", frame, err)
			return
		}
		if size, _ := settings.Value(framing.SettingInitialWindowSize); size != 1<<20 {
			t.Errorf("%d bytes", size)
		}
	})
	h := newHandler(t, nil)
	if _, err := h.Fetch(t.Context(), h2cRequest(t, "http://"+l.Addr().String()+"/")); err == nil {
		t.Error("there is a response")
	}
}

// slowClient is a client that does not accept an interim response until it is released.
type slowClient struct{ reached, released chan struct{} }

// Interim implements scheme.Interim.
func (s slowClient) Interim(int, httpmessage.Fields) {
	close(s.reached)
	<-s.released
}

// TestHTTP2SlowClient: a client that does not accept an interim response does not block the requests of others on the
// connection, and gets the final response after it.
func TestHTTP2SlowClient(t *testing.T) {
	o, h := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/early" {
			w.WriteHeader(http.StatusEarlyHints)
		}
		fmt.Fprint(w, "ok")
	}, func(c *schemehttp.Config) { c.HeaderTimeout = 10 * time.Second })
	fetch(t, h, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, o.URL+"/")}})
	slow := slowClient{make(chan struct{}), make(chan struct{})}
	var early sync.WaitGroup
	early.Go(func() {
		r, err := h.Fetch(t.Context(), scheme.Request{
			Request: httpmessage.Request{Method: "GET", URI: parse(t, o.URL+"/early")}, Interim: slow,
		})
		select {
		case <-slow.released:
		default:
			t.Error("the response does not wait for the interim response")
		}
		if err != nil {
			t.Error(err)
		} else if text, err := body(r); text != "ok" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	})
	<-slow.reached
	if r, err := get(t, h, o.URL+"/"); err != nil {
		t.Error(err)
	} else if text, err := body(r); text != "ok" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if got := o.opened.Load(); got != 1 {
		t.Errorf("%d connections", got)
	}
	close(slow.released)
	early.Wait()
}

// silenced is a connection whose server hears nothing any more, once that is set, such as after a change of its
// network.
type silenced struct {
	net.Conn
	isSilent *atomic.Bool
}

// Write implements net.Conn.
func (s silenced) Write(p []byte) (int, error) {
	if s.isSilent.Load() {
		return len(p), nil
	}
	return s.Conn.Write(p)
}

// TestHTTP2Silent: a connection on which the server did not answer in time carries no other request, and is closed
// after its idle timeout.
func TestHTTP2Silent(t *testing.T) {
	first := new(atomic.Bool)
	o, h := serveHTTP2(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") },
		func(c *schemehttp.Config) {
			isSilent := first
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				this := isSilent
				isSilent = new(atomic.Bool)
				return silenced{conn, this}, err
			}
			c.HeaderTimeout, c.IdleTimeout = 50*time.Millisecond, 500*time.Millisecond
		})
	for range 3 {
		_, err := get(t, h, o.URL+"/")
		t.Logf("%d connections, %v", o.opened.Load(), err)
		first.Store(true)
	}
	if o.opened.Load() < 2 {
		t.Error("all requests were sent on the silent connection")
	}
	testserver.Wait(t, "the connections are closed", func() bool { return o.closed.Load() == o.opened.Load() })
}
