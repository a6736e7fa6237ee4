package http_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// TestSpelling requires that Request.Spelling is sent unchanged, by each protocol and through upstream proxies:
// RFC 9112 section 3.2, RFC 9113 section 8.3.1.
func TestSpelling(t *testing.T) {
	requested := make(chan string, 1)
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		line, _ := in.ReadString('\n')
		requested <- strings.TrimSuffix(strings.TrimPrefix(line, "GET "), " HTTP/1.1\r\n")
		_, _ = io.WriteString(c, empty)
	})
	secure, h2 := serveHTTP2(t, func(_ http.ResponseWriter, r *http.Request) { requested <- r.RequestURI }, nil)
	upstream := startUpstreams(t, speak).handler(t, "http", "pass", nil)
	for _, spelling := range []string{"/?a[]=1", "/%7e/../b|", "/\\ü\"<>`", "//a", "/?%", "/\xff"} {
		fetch(t, newHandler(t, nil),
			scheme.Request{Request: httpmessage.Request{
				Method: "GET", URI: parse(t, "http://"+o.addr+"/normal"),
				Spelling: spelling,
			}})
		if got := <-requested; got != spelling {
			t.Errorf("%q is sent as %q", spelling, got)
		}
		fetch(t, h2,
			scheme.Request{Request: httpmessage.Request{
				Method: "GET", URI: parse(t, secure.URL+"/normal"),
				Spelling: spelling,
			}})
		if got := <-requested; got != spelling {
			t.Errorf("%q is sent as %q by HTTP/2", spelling, got)
		}
		_, line := fetch(t, upstream,
			scheme.Request{Request: httpmessage.Request{
				Method: "GET", URI: parse(t, "http://a.example/normal"),
				Spelling: spelling,
			}})
		if want := "GET http://a.example" + spelling + " HTTP/1.1"; line != want {
			t.Errorf("%q is sent to an upstream proxy as %q", spelling, line)
		}
	}
	for _, spelling := range []string{
		"/ ", "/\r\nA: b", "/\x00", "/\x7f", "/#", "a", "@evil.example/",
		"http://evil.example/", "*",
	} {
		for _, h := range []scheme.Handler{newHandler(t, nil), upstream} {
			if _, err := h.Fetch(t.Context(), scheme.Request{Request: httpmessage.Request{
				Method: "GET", URI: parse(t, "http://"+o.addr+"/"),
				Spelling: spelling,
			}}); err == nil {
				t.Errorf("%q is sent", spelling)
			}
		}
	}
}
