package http_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// A client of the standard library is served too, with its unknown lengths.
func TestRoundTrip(t *testing.T) {
	got := make(chan string, 2)
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		for head := readHead(in); head != ""; head = readHead(in) {
			if strings.Contains(head, "chunked") {
				head += readHead(in)
			}
			got <- head
			_, _ = io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	h := newHandler(t, nil)
	for _, tt := range []struct {
		method string
		body   io.Reader
		want   string
	}{
		{"", nil, "GET /%7e?b HTTP/1.1\r\nHost: " + o.addr + "\r\n"},
		{"PUT", opaque{strings.NewReader("body")}, "PUT /%7e?b HTTP/1.1\r\nHost: " + o.addr + "\r\nTransfer-Encoding: chunked\r\n4\r\nbody\r\n0\r\n"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), tt.method, "http://"+o.addr+"/%7e?b#c", tt.body)
		if err != nil {
			t.Fatal(err)
		}
		request.Method = tt.method
		response, err := h.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.Status != "200 Fine" || string(b) != "ok" {
			t.Errorf("%s %q, %v", response.Status, b, err)
		}
		if asked := <-got; asked != tt.want {
			t.Errorf("asked %q", asked)
		}
	}
	if n := o.connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
	invalid, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+o.addr+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	invalid.URL.Scheme = ""
	if _, err := h.RoundTrip(invalid); !errors.Is(err, resolver.ErrUnreachable) {
		t.Errorf("%v", err)
	}
}

// Neither an idle connection nor an exchange without a body has a goroutine.
func TestGoroutines(t *testing.T) {
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		for readHead(in) != "" {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
		}
	})
	h := newHandler(t, nil)
	var all []*scheme.Resource
	for range 4 {
		r, err := get(t, h, "http://"+o.addr+"/")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	ours := func() (n int) {
		b := make([]byte, 1<<20)
		for stack := range strings.SplitSeq(string(b[:runtime.Stack(b, true)]), "\n\n") {
			if strings.Contains(stack, "resolver/scheme/http.") && !strings.Contains(stack, "http_test.") {
				n++
			}
		}
		return n
	}
	if n := ours(); n > 0 {
		t.Errorf("%d goroutines with responses under way", n)
	}
	for _, r := range all {
		if _, err := body(r); err != nil {
			t.Error(err)
		}
	}
	if n := ours(); n > 0 {
		t.Errorf("%d goroutines with idle connections", n)
	}
	fetch(t, h, scheme.Request{Request: httpmessage.Request{
		Method: "PUT", URI: parse(t, "http://"+o.addr+"/"),
		Body: strings.NewReader("GET / HTTP/1.1\r\n\r\n"), ContentLength: 18,
	}})
	testserver.Wait(t, "no goroutine is left", func() bool { return ours() == 0 })
}
