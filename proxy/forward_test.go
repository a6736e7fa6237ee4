package proxy_test

import (
	"fmt"
	"io"
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

// origin answers with the request that it received.
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

// By default no destination in the local network is reachable through urnd.
func TestForwardIsGuarded(t *testing.T) {
	host := origin(t)
	s := start(t, func(c *proxy.Config) {
		fetch := schemehttp.New(schemehttp.Config{
			Dial:          netguard.New(time.Second).DialContext,
			HeaderTimeout: time.Second, Now: time.Now,
		})
		c.Fetch = scheme.Mux{"http": fetch}
	})
	response := s.get(t, "http://"+host+"/")
	if body := text(t, response); response.StatusCode != 403 || !strings.Contains(body, "its address is loopback") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

// A server must accept the absolute-form for itself (RFC 9112 section 3.2.2).
func TestAbsoluteFormOfItself(t *testing.T) {
	s := start(t, nil)
	response := s.get(t, "http://"+s.addr+"/urn:ietf:rfc:2648")
	if response.StatusCode != 302 || response.Header.Get("Location") != "https://a.example/urn:ietf:rfc:2648" {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
}

// The path and the query are forwarded as sent.
func TestForwardKeepsTheTarget(t *testing.T) {
	s := start(t, nil)
	host := origin(t)
	for sent, want := range map[string]string{
		"/?b=1;c=2&a=3": "/?b=1;c=2&a=3", "/?z&a=1&q=;": "/?z&a=1&q=;", "/a%2Fb;c=d": "/a%2Fb;c=d", "/a#f": "/a",
		"?": "/?", "": "/",
	} {
		if got := text(t, s.get(t, "http://"+host+sent)); !strings.HasPrefix(got, "GET "+want+" host="+host) {
			t.Errorf("%q reaches the origin as %q", sent, got)
		}
	}
}
