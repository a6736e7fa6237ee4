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

// TestRequestOnUsedConnection: on a reused connection a request is sent completely, even if the server reads it
// slowly, and the response is read in whatever parts it arrives.
func TestRequestOnUsedConnection(t *testing.T) {
	large := strings.Repeat("a", 12<<20)
	o := serve(t, func(_ int, c net.Conn, in *bufio.Reader) {
		for {
			head := readHead(in)
			if head == "" {
				return
			}
			text := "small"
			if strings.Contains(head, large) {
				text = "large"
			}
			for _, part := range []string{"H", "TTP/1.1 200 OK\r\nContent-Le", "ngth: 5\r\n\r\n" + text[:2], text[2:]} {
				_, _ = io.WriteString(c, part)
			}
		}
	})
	h := newHandler(t, nil)
	for _, tt := range []struct {
		field, want string
	}{{"a", "small"}, {"a", "small"}, {large, "large"}, {"a", "small"}} {
		r, text := fetch(t, h, scheme.Request{Request: httpmessage.Request{
			Method: http.MethodGet, URI: parse(t, "http://"+o.addr+"/"), Fields: httpmessage.NewFields("X-A", tt.field),
		}})
		if r.Status != http.StatusOK || text != tt.want {
			t.Errorf("%d %q, want %q", r.Status, text, tt.want)
		}
	}
	if n := o.connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestManyDeadConnections: if the server has closed many idle connections, none is used, and the request is
// sent on a new one, whatever its method.
func TestManyDeadConnections(t *testing.T) {
	const many = 4
	release, closed := make(chan struct{}), make(chan struct{}, many)
	o := serve(t, func(n int, c net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")
		if n < many {
			<-release // blocks, so that the others need their own connections
		}
		_, _ = io.WriteString(c, "a")
		if n < many {
			c.Close()
			closed <- struct{}{}
			return
		}
		_, _ = in.ReadByte()
	})
	h := newHandler(t, nil)
	ask := func(method string) *scheme.Resource {
		r, err := h.Fetch(t.Context(),
			scheme.Request{Request: httpmessage.Request{Method: method, URI: parse(t, "http://"+o.addr+"/")}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var open []*scheme.Resource
	for range many {
		open = append(open, ask(http.MethodGet))
	}
	close(release)
	for range many {
		<-closed
	}
	for _, r := range open {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		r.Body.Close()
	}
	r := ask(http.MethodPost)
	if r.Status != http.StatusOK || o.connections() != many+1 {
		t.Errorf("%d, %d connections", r.Status, o.connections())
	}
	r.Body.Close()
}
