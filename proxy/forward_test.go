package proxy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// origin answers with the request that reached it.
func origin(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Connection", "X-Hop")
		w.Header().Set("X-Hop", "1")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s host=%s via=%q hop=%q agent=%q body=%q", r.Method, r.RequestURI, r.Host,
			r.Header.Get("Via"), r.Header.Get("X-Private"), r.Header.Get("User-Agent"), body)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestForward(t *testing.T) {
	s := start(t, nil)
	host := origin(t)
	response := s.ask(t, "POST HTTP://"+host+"/a/../b//c?%7ex HTTP/1.1\r\nHost: elsewhere\r\nConnection: X-Private\r\n"+
		"X-Private: 1\r\nContent-Length: 4\r\n\r\nbody")[0]
	want := fmt.Sprintf(`POST /b//c?~x host=%s via="1.1 urnd" hop="" agent="" body="body"`, host)
	if got := text(t, response); response.StatusCode != http.StatusTeapot || got != want {
		t.Errorf("%d %s\nwant %s", response.StatusCode, got, want)
	}
	if response.Header.Get("X-Hop") != "" || response.Header.Get("Via") != "1.1 urnd" {
		t.Errorf("response header %v", response.Header)
	}
}

func TestForwardFailures(t *testing.T) {
	s := start(t, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	for target, status := range map[string]int{"http://" + closed + "/": 502, "http://[::1]:1/": 403, "http://169.254.169.254/latest/meta-data/": 403} {
		response := s.get(t, target)
		if body := text(t, response); response.StatusCode != status || !strings.Contains(body, `"detail"`) {
			t.Errorf("%s: %d %s", target, response.StatusCode, body)
		}
	}
	if got := s.get(t, "http://a@127.0.0.1/").StatusCode; got != http.StatusBadRequest {
		t.Errorf("a user before the host: %d", got)
	}
	for _, target := range []string{"http://127.0.0.1:65536/", "htp://127.0.0.1:483049/"} {
		if got := s.get(t, target).StatusCode; got != http.StatusBadRequest {
			t.Errorf("%s, whose port no server has: %d", target, got)
		}
	}
	if got := s.get(t, "http://127.0.0.1/", "Via: 1.1 urnd, 1.1 urnd", "Via: 1.1 urnd, 1.1 urnd").StatusCode; got != http.StatusLoopDetected {
		t.Errorf("a loop: %d", got)
	}
}

// By default no destination in the own network can be reached through urnd.
func TestForwardIsGuarded(t *testing.T) {
	host := origin(t)
	s := start(t, func(c *proxy.Config) {
		fetch := schemehttp.New(schemehttp.Config{Dial: netguard.New(time.Second).DialContext, HeaderTimeout: time.Second, Now: time.Now})
		c.Fetch = scheme.Mux{"http": fetch}
	})
	response := s.get(t, "http://"+host+"/")
	if body := text(t, response); response.StatusCode != 403 || !strings.Contains(body, "its address is loopback") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

// A server must accept the absolute form for itself, RFC 9112 section 3.2.2.
func TestAbsoluteFormOfItself(t *testing.T) {
	s := start(t, nil)
	response := s.get(t, "http://"+s.addr+"/urn:ietf:rfc:2648")
	if response.StatusCode != 302 || response.Header.Get("Location") != "https://a.example/urn:ietf:rfc:2648" {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
}

// The path and the query reach the origin as they were sent.
func TestForwardKeepsTheTarget(t *testing.T) {
	s := start(t, nil)
	host := origin(t)
	for sent, want := range map[string]string{
		"/?b=1;c=2&a=3": "/?b=1;c=2&a=3", "/?z&a=1&q=;": "/?z&a=1&q=;", "/a%2Fb;c=d": "/a%2Fb;c=d", "/a#f": "/a", "?": "/?", "": "/",
	} {
		if got := text(t, s.get(t, "http://"+host+sent)); !strings.HasPrefix(got, "GET "+want+" host="+host) {
			t.Errorf("%q reaches the origin as %q", sent, got)
		}
	}
}

// An origin that hangs up or talks nonsense is a bad gateway, not a fault of
// urnd.
func TestForwardToABrokenOrigin(t *testing.T) {
	s := start(t, nil)
	for _, says := range []string{"", "nonsense\r\n\r\n"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, says)
				_ = conn.Close()
			}
		}()
		if got := s.get(t, "http://"+listener.Addr().String()+"/").StatusCode; got != 502 {
			t.Errorf("an origin that says %q: %d", says, got)
		}
		listener.Close()
		<-done
	}
}

// Behind a proxy that is not trusted the address of the client is not known.
func TestRelayedClientsGetNoURLs(t *testing.T) {
	s := start(t, nil)
	for _, field := range []string{"X-Forwarded-For: 198.51.100.7", "Forwarded: for=198.51.100.7"} {
		if got := s.get(t, "/http://evil.example/", field).StatusCode; got != 403 {
			t.Errorf("%s: a redirect to anywhere: %d", field, got)
		}
		if got := s.get(t, "/urn:ietf:rfc:2648", field).StatusCode; got != 302 {
			t.Errorf("%s: a name: %d", field, got)
		}
	}
}
