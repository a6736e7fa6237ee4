package forward_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// echo sends back its input until the end, and then "bye".
func echo(c net.Conn) {
	_, _ = io.Copy(c, c)
	_, _ = io.WriteString(c, "bye")
	_ = c.Close()
}

// listening returns the address of an echoing server on loopback.
func listening(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go echo(c)
		}
	}()
	return listener.Addr().String()
}

// overHTTP is a forward.ResponseWriter of net/http.
type overHTTP struct{ httpmessage.ResponseWriter }

func (overHTTP) CloseAfterResponse()      {}
func (overHTTP) SetServer(netip.AddrPort) {}
func (overHTTP) SourceFailed(error)       {}

// served returns a connection to a server of HTTP/1.1.
func served(t *testing.T, serve func(w forward.ResponseWriter, r *http.Request)) (net.Conn, *bufio.Reader) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve(overHTTP{proxytest.Writer(w, r)}, r)
	}))
	t.Cleanup(server.Close)
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, bufio.NewReader(c)
}

// RFC 9110 section 9.3.6: a tunnel carries all data, also that sent before the response, and ends when both
// sides have ended.
func TestTunnel(t *testing.T) {
	address := listening(t)
	slots := make(quota.Semaphore, 1)
	check := func(netip.AddrPort) error { return nil }
	var to string
	p := newWeb(t, nil, func(c *forward.Config) {
		c.Streams = quota.Limit{Semaphore: slots}
		c.Tunnel = func(_ context.Context, target string, check func(netip.AddrPort) error) (net.Conn, error) {
			if to = target; check == nil {
				return nil, errors.New("nothing is checked")
			}
			return net.Dial("tcp", address)
		}
	})
	ended := make(chan int64, 1)
	c, in := served(t, func(w forward.ResponseWriter, r *http.Request) {
		requested := of(t, r, "http://a.example/")
		requested.Check = check
		carried, err := p.Connect(r.Context(), w, requested, forward.Target{Host: "a.example", Port: 443})
		if err != nil {
			t.Error(err)
		}
		ended <- carried
	})
	if _, err := io.WriteString(c, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\nearly "); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil || response.StatusCode != 200 || !strings.HasPrefix(response.Header.Get("Via"), "1.1 urnd") ||
		to != "a.example:443" {
		t.Fatalf("to %s: %+v, %v", to, response, err)
	}
	if len(slots) != 1 {
		t.Errorf("%d streams", len(slots))
	}
	half, ok := c.(*net.TCPConn)
	if _, err := io.WriteString(c, "late"); err != nil || !ok || half.CloseWrite() != nil {
		t.Fatal(err)
	}
	if all, err := io.ReadAll(in); string(all) != "early latebye" || err != nil {
		t.Errorf("%q, %v", all, err)
	}
	if carried := <-ended; carried != int64(len("early latebye")) {
		t.Errorf("%d bytes", carried)
	}
	testserver.Wait(t, "the slot is free", func() bool { return len(slots) == 0 })
}

// RFC 9113 section 8.5: by HTTP/2 the tunnel is one stream, whose response header is sent before it is taken over.
func TestTunnelOfStream(t *testing.T) {
	address := listening(t)
	p := newWeb(t, nil, func(c *forward.Config) {
		c.Tunnel = func(context.Context, string, func(netip.AddrPort) error) (net.Conn, error) {
			return net.Dial("tcp", address)
		}
	})
	r := requested(t, http.MethodConnect, "http://a.example/")
	r.Major, r.Minor = 2, 0
	stream, far := net.Pipe()
	client := &recorder{Recorder: proxytest.Recorder{Conn: stream, Read: []byte("early ")}}
	got := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(io.LimitReader(far, int64(len("early late"))))
		_ = far.Close()
		got <- string(all)
	}()
	go func() { _, _ = io.WriteString(far, "late") }()
	carried, err := p.Connect(t.Context(), client, r, forward.Target{Host: "a.example", Port: 443})
	if err != nil || carried < int64(len("early late")) {
		t.Errorf("%d bytes, %v", carried, err)
	}
	if text := <-got; text != "early late" {
		t.Errorf("the client gets %q", text)
	}
	if client.Status != 200 || client.Flushes == 0 || client.Fields.Get("Via") == "" ||
		client.server.String() != address {
		t.Errorf("%+v", client)
	}
}

// A tunnel is restricted to allowed ports and names, and limited in number; the error of the dialer is returned.
func TestTunnelRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		target  forward.Target
		streams int
		want    error
	}{
		"a port":        {forward.Target{Host: "a.example", Port: 25}, 1, problem.ErrTunnelPort},
		"an address":    {forward.Target{Host: "2001:db8::1", Port: 443}, 1, errRefused},
		"too many":      {forward.Target{Host: "a.example", Port: 443}, 0, problem.ErrTooManyStreams},
		"no connection": {forward.Target{Host: "a.example", Port: 443}, 1, errRefused},
	} {
		slots := make(quota.Semaphore, tt.streams)
		var dialled []string
		p := newWeb(t, nil, func(c *forward.Config) {
			c.Streams = quota.Limit{Semaphore: slots, Busy: problem.ErrTooManyStreams}
			c.Tunnel = func(_ context.Context, target string, _ func(netip.AddrPort) error) (net.Conn, error) {
				dialled = append(dialled, target)
				return nil, errRefused
			}
		})
		client := new(recorder)
		if carried, err := p.Connect(t.Context(), client, requested(t, http.MethodConnect, "http://a.example/"),
			tt.target); !errors.Is(err,
			tt.want) || carried != 0 || client.Flushes > 0 {
			t.Errorf("%s: %d, %v", name, carried, err)
		}
		if (len(dialled) > 0) != errors.Is(tt.want, errRefused) || len(slots) > 0 {
			t.Errorf("%s: %q are dialled, %d streams", name, dialled, len(slots))
		}
	}
	p := newWeb(t, nil, func(c *forward.Config) {
		c.Tunnel = func(context.Context, string, func(netip.AddrPort) error) (net.Conn, error) {
			a, b := net.Pipe()
			go echo(b)
			return a, nil
		}
	})
	// A connection that cannot be taken over.
	if _, err := p.Connect(t.Context(), new(recorder), requested(t, http.MethodConnect, "http://a.example/"),
		forward.Target{
			Host: "a.example",
			Port: 443,
		}); err == nil || !strings.Contains(err.Error(), "hijacking the client connection") {
		t.Errorf("%v", err)
	}
}

// RFC 9110 section 7.8: an agreed protocol is tunneled, using a slot of streams instead of that of a fetch.
func TestUpgrade(t *testing.T) {
	streams := make(quota.Semaphore, 1)
	w := newWeb(t, nil, func(c *forward.Config) {
		c.Streams = quota.Limit{Semaphore: streams, Busy: problem.ErrTooManyStreams}
	})
	w.answer = func(scheme.Request) (*scheme.Resource, error) {
		resource := respond(101, "", "Connection", "upgrade, X-Hop", "X-Hop", "1", "Upgrade", "websocket",
			"Sec-Websocket-Accept", "x")
		c, err := net.Dial("tcp", listening(t))
		resource.Body = c
		return resource, err
	}
	ended := make(chan *forward.Request, 1)
	c, in := served(t, func(client forward.ResponseWriter, r *http.Request) {
		requested := of(t, r, "http://a.example/")
		if cached, err := w.Serve(r.Context(), client, requested); err != nil || cached != "bypass" {
			t.Errorf("%s, %v", cached, err)
		}
		ended <- requested
	})
	if _, err := io.WriteString(c,
		"GET / HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive, Upgrade\r\nUpgrade: "+
			"websocket\r\nSec-WebSocket-Key: k\r\n\r\nearly "); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(in, nil)
	if err != nil || response.StatusCode != 101 || response.Header.Get("Upgrade") != "websocket" ||
		response.Header.Get("Connection") != "Upgrade" || response.Header.Get("X-Hop") != "" ||
		response.Header.Get("Sec-Websocket-Accept") != "x" || response.Header.Get("Via") == "" {
		t.Fatalf("%+v, %v", response, err)
	}
	sent, _ := w.last()
	if got := linesOf(sent.Fields, "Connection", "Upgrade",
		"Sec-Websocket-Key"); got != "Connection=Upgrade Upgrade=websocket Sec-Websocket-Key=k" {
		t.Errorf("the origin is asked %s", got)
	}
	if len(w.slots) != 0 || len(streams) != 1 {
		t.Errorf("%d fetches, %d streams", len(w.slots), len(streams))
	}
	if other := w.get(t, "http://a.example/", "Connection", "Upgrade", "Upgrade", "websocket"); !errors.Is(other.err,
		problem.ErrTooManyStreams) {
		t.Errorf("another one: %v", other.err)
	}
	half, ok := c.(*net.TCPConn)
	if !ok || half.CloseWrite() != nil {
		t.Fatal("no half-close")
	}
	if all, err := io.ReadAll(in); string(all) != "early bye" || err != nil {
		t.Errorf("%q, %v", all, err)
	}
	<-ended
	if len(streams) != 0 {
		t.Error("the stream has ended")
	}
}

// A response other than 101 is an ordinary response, and a 101 that cannot be tunneled is an error. Only a
// GET without content by HTTP/1.1 may upgrade.
func TestUpgradeRefused(t *testing.T) {
	w := newWeb(t, nil, nil)
	w.answers(426, "no", "Connection", "close", "Upgrade", "a")
	if client := w.get(t, "http://a.example/", "Connection", "Upgrade", "Upgrade",
		"a"); client.err != nil || client.Status != 426 || client.Body.String() != "no" || client.cached != "bypass" ||
		client.server != origin {
		t.Errorf("%+v", client)
	}
	w.answers(101, "", "Upgrade", "a")
	if client := w.get(t, "http://a.example/", "Connection", "Upgrade", "Upgrade", "a"); !errors.Is(client.err,
		resolver.ErrUnreachable) {
		t.Errorf("without a connection: %+v", client)
	}
	w.get(t, "http://a.example/", "Connection", "Upgrade", "Upgrade", "a/1, h2c", "Upgrade", "b")
	if sent, _ := w.last(); sent.Fields.List("Upgrade") != "a/1, b" {
		t.Errorf("of several protocols the origin is asked for %q", sent.Fields.List("Upgrade"))
	}
	w.answer = func(scheme.Request) (*scheme.Resource, error) { return nil, errRefused }
	if client := w.get(t, "http://a.example/", "Connection", "Upgrade", "Upgrade", "a"); !errors.Is(client.err,
		errRefused) || len(w.slots) != 0 {
		t.Errorf("no answer: %+v", client)
	}
	w.answers(200, "plain")
	for name, r := range map[string]*forward.Request{
		"h2c": requested(t, http.MethodGet, "http://a.example/", "Connection", "Upgrade", "Upgrade",
			"h2c"),
		"h2c in a list": requested(t, http.MethodGet, "http://a.example/", "Connection", "Upgrade", "Upgrade",
			"h2c,", "Upgrade", " H2C/2"),
		"not named by Connection": requested(t, http.MethodGet, "http://a.example/", "Upgrade", "a"),
		"POST": requested(t, http.MethodPost, "http://a.example/", "Connection", "Upgrade",
			"Upgrade", "a"),
		"another protocol": requested(t, http.MethodGet, "ftp://a.example/", "Connection", "Upgrade", "Upgrade",
			"a"),
	} {
		client := w.serve(t, r)
		if sent, _ := w.last(); client.err != nil || client.Body.String() != "plain" || sent.Fields.Has("Upgrade") ||
			sent.Fields.Has("Connection") {
			t.Errorf("%s: %+v, the origin is asked %v", name, client, sent.Fields)
		}
	}
}
