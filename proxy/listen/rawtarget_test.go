package listen_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/proxy/listen"
)

// serveParts returns a function that sends parts to a server, each of which is read by itself, and returns what its handler
// has seen.
func serveParts(t testing.TB) func(parts ...string) []string {
	t.Helper()
	listener, all := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}, make(chan string, 100)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			all <- fmt.Sprintf("%s %s %q %s %q", r.Method, r.RequestURI, r.URL.Path, r.Host, body)
		})
	})
	return func(parts ...string) (handled []string) {
		near, _ := listener.dial()
		var reading sync.WaitGroup
		reading.Go(func() { _, _ = io.Copy(io.Discard, near) })
		for _, part := range parts {
			if _, err := io.WriteString(near, part); err != nil {
				break // it was refused
			}
		}
		reading.Wait()
		for len(all) > 0 {
			handled = append(handled, <-all)
		}
		return handled
	}
}

// split returns the ways to send a text in two parts, as one, and octet by octet.
func split(text string) (ways [][]string) {
	for i := range len(text) {
		ways = append(ways, []string{text[:i], text[i:]})
	}
	return append(ways, strings.Split(text, ""))
}

// A percent sign that begins no triplet reaches the handler as it came, however the octets of the request come: RFC 9112
// section 3.2.
func TestRawTargets(t *testing.T) {
	handled := serveParts(t)
	for _, tt := range []struct{ line, body, want string }{
		{"GET /100%", "", `GET /100% "/100%" a ""`},
		{"GET /%", "", `GET /% "/%" a ""`},
		{"GET /%4", "", `GET /%4 "/%4" a ""`},
		{"GET /%zz%41%%41?%%zz%41", "", `GET /%zz%41%%41?%%zz%41 "/%zzA%A" a ""`},
		{"GET http://a/%?%", "", `GET http://a/%?% "/%" a ""`},
		{"GET HTTP://a/b%/_%", "", `GET HTTP://a/b%/_% "/b%/_%" a ""`},
		{"PURGE /%", "", `PURGE /% "/%" a ""`},
		{"POST /%", "Content-Length: 8\r\n\r\n/100% /%", `POST /% "/%" a "/100% /%"`},
		{"POST /_%_", "Transfer-Encoding: chunked\r\n\r\n1\r\n%\r\n0\r\n\r\n", `POST /_%_ "/_%_" a "%"`},
		{"GET /[]{}|^\\`\"<>%ü?[]%", "", "GET /[]{}|^\\`\"<>%ü?[]% " + fmt.Sprintf("%q", "/[]{}|^\\`\"<>%ü") + ` a ""`},
		{"GET //b/%", "", `GET //b/% "//b/%" a ""`},
		{"GET /urn:example:100%", "", `GET /urn:example:100% "/urn:example:100%" a ""`},
		// What else net/http refuses.
		{"GET /% b", "", ""},
		{"GET /%\t", "", ""},
		{"GET /%\x7f", "", ""},
		{"GET http://a%/", "", ""},
		{"GET http://a%/%", "", ""},
		{"GET /%\x00", "", ""},
		{"GET %", "", ""},
	} {
		fields := "Connection: close\r\n" + tt.body
		if tt.body == "" {
			fields += "\r\n"
		}
		for _, parts := range split(tt.line + " HTTP/1.1\r\nHost: a\r\n" + fields) {
			if got := strings.Join(handled(parts...), ", "); got != tt.want {
				t.Fatalf("%q: %s, want %s", parts, got, tt.want)
			}
		}
	}
}

// What follows a request is never changed: what looks like a path there may be a body (RFC 9112 section 9.3.2).
func TestRawTargetsOfPipelines(t *testing.T) {
	handled := serveParts(t)
	const (
		plain   = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
		stray   = "GET /100% HTTP/1.1\r\nHost: a\r\n\r\n"
		posted  = "POST /p% HTTP/1.1\r\nHost: a\r\nContent-Length: 31\r\n\r\n" + "GET /q% HTTP/1.1\r\nb: /% c\r\n\r\n\r\n"
		last    = "GET /z% HTTP/1.0\r\nHost: a\r\n\r\n"
		isPlain = `GET /a "/a" a ""`
		isStray = `GET /100% "/100%" a ""`
		isLast  = `GET /z% "/z%" a ""`
	)
	isPosted := fmt.Sprintf("POST /p%% %q a %q", "/p%", "GET /q% HTTP/1.1\r\nb: /% c\r\n\r\n\r\n")
	for _, tt := range []struct {
		text string
		want []string
	}{
		{plain + stray + last, []string{isPlain, isStray, isLast}},
		{posted + plain + last, []string{isPosted, isPlain, isLast}},
		{plain + posted + last, []string{isPlain, isPosted, isLast}},
		{stray + posted + stray + last, []string{isStray, isPosted, isStray, isLast}},
	} {
		for _, parts := range split(tt.text) {
			if got := handled(parts...); len(got) > len(tt.want) || !slices.Equal(got, tt.want[:len(got)]) {
				t.Fatalf("%q: %q", parts, got)
			}
		}
	}
}

// A request is seen from its first octet also where that came while net/http looked whether the client has left.
func TestRawTargetsOneAfterAnother(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				began <- struct{}{}
				<-release
			}
			_, _ = io.WriteString(w, r.RequestURI)
		})
	})
	const end = " HTTP/1.1\r\nHost: a\r\n\r\n"
	c := call(t, listener.Addr().String(), "127.0.0.1")
	want := func(target string) {
		t.Helper()
		response, err := http.ReadResponse(c.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(response.Body); err != nil || string(text) != target {
			t.Fatalf("%q, %v", text, err)
		}
	}
	for range 100 {
		c.send(t, "GET /100%"+end)
		want("/100%")
	}
	for range 10 {
		c.send(t, "GET /slow"+end)
		<-began
		c.send(t, "GET /%?%"+end)
		release <- struct{}{}
		want("/slow")
		want("/%?%")
	}
}
