package listen_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urnd/urnd/proxy/listen"
)

// A request with Pragma has the Cache-Control that its client has sent, and no other: RFC 9110 section 7.7.
func TestPragma(t *testing.T) {
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, "%q %q", r.Header["Pragma"], r.Header["Cache-Control"])
		})
	})
	const line, none, sent = "GET / HTTP/1.1\r\nHost: a\r\n", `["no-cache"] []`, `["no-cache"] ["no-cache"]`
	for _, tt := range []struct {
		request string
		want    string
	}{
		{line + "Pragma: no-cache\r\n\r\n", none},
		{"GET / HTTP/1.0\r\nPRAGMA: no-cache\r\n\r\n", none},
		{"POST / HTTP/1.1\r\nHost: a\r\nPragma: no-cache\r\nContent-Length: 1\r\n\r\na", none},
		{line + "Pragma: no-cache\r\nCACHE-control:no-cache\r\n\r\n", sent},
		{line + "Cache-Control: max-age=0\r\nPragma: no-cache\r\n\r\n", `["no-cache"] ["max-age=0"]`},
		{line + "Cache-Controls: a\r\nX-Cache-Control: a\r\nPragma: no-cache\r\nX: " + strings.Repeat("a", 2000) + "\r\n\r\n", none},
		{line + "Cache-Control: no-cache\r\n\r\n", `[] ["no-cache"]`},
	} {
		for _, oneByOne := range []bool{false, true} {
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			for i := range 2 { // a connection that was used knows as much
				if i > 0 && strings.Contains(tt.request, "HTTP/1.0") {
					break
				}
				from := io.Reader(strings.NewReader(tt.request))
				if oneByOne {
					from = iotest.OneByteReader(from)
				}
				if _, err := io.Copy(conn, from); err != nil {
					t.Fatal(err)
				}
				response, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				if body, err := io.ReadAll(response.Body); string(body) != tt.want || err != nil {
					t.Errorf("%.100q, the request %d: %s, %v", tt.request, i, body, err)
				}
			}
			conn.Close()
		}
	}
}
