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

// TestRoundTrip uses the Handler from a net/http client, including unknown lengths.
func TestRoundTrip(t *testing.T) {
	got := make(chan string, 2)
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		for head := readHead(in); head != ""; head = readHead(in) {
			if strings.Contains(head, "chunked") {
				head += readHead(in)
			}
			got <- head
			_, _ = io.WriteString(c,
				"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	h := newHandler(t, nil)
	for _, tt := range []struct {
		method string
		body   io.Reader
		want   string
	}{
		{"", nil, "GET /%7e?b HTTP/1.1\r\nHost: " + o.addr + "\r\n"},
		{
			"PUT",
			opaque{strings.NewReader("body")},
			"PUT /%7e?b HTTP/1.1\r\nHost: " + o.addr + "\r\nTransfer-Encoding: chunked\r\n4\r\nbody\r\n0\r\n",
		},
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
		if requested := <-got; requested != tt.want {
			t.Errorf("asked %q", requested)
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

// TestGoroutines requires that neither an idle connection nor an exchange without a body has a goroutine: the
// only ones are those of the server.
func TestGoroutines(t *testing.T) {
	const connections = 4
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		for readHead(in) != "" {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
		}
	})
	before := runtime.NumGoroutine()
	for range connections {
		conn, err := net.Dial("tcp", o.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	most := before + 2*(runtime.NumGoroutine()-before)
	none := func(where string) {
		t.Helper()
		testserver.Wait(t, "no goroutine is left "+where, func() bool { return runtime.NumGoroutine() <= most })
	}
	h := newHandler(t, nil)
	var all []*scheme.Resource
	for range connections {
		r, err := get(t, h, "http://"+o.addr+"/")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	none("with responses under way")
	for _, r := range all {
		if _, err := body(r); err != nil {
			t.Error(err)
		}
	}
	none("with idle connections")
	fetch(t, h, scheme.Request{Request: httpmessage.Request{
		Method: "PUT", URI: parse(t, "http://"+o.addr+"/"),
		Body: strings.NewReader("GET / HTTP/1.1\r\n\r\n"), ContentLength: 18,
	}})
	none("behind a body")
}
