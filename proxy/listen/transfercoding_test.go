package listen_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urnd/urnd/proxy/listen"
)

// RFC 9112 section 6.1: where the framing of a request may be another one for who sent it, the
// connection ends, and what follows is no request.
func TestTransferCoding(t *testing.T) {
	listener := localListener(t)
	var seen []string
	serve(t, listener, func(c *listen.ServerConfig) {
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			seen = append(seen, r.Method+" "+r.URL.Path+" "+string(body))
			_, _ = io.WriteString(w, "answer")
		})
	})
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, tt := range []struct {
		request  string
		statuses string
		handled  int
	}{
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "200", 1},
		{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 50\r\n\r\n1\r\na\r\n0\r\n\r\n" + smuggled, "200", 1},
		{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, "200 200", 2},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\naPOST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n" + smuggled, "200 200", 2},
		{"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, "200", 1},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" + smuggled, "200 200", 2},
		{"GET / HTTP/1.0\r\nHost: a\r\n\r\n" + smuggled, "200", 1},
		{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + smuggled, "200 200", 2},
		{"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + smuggled, "200 200", 2},
		{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400", 0},
		{"POST / HTTP/1.0\r\nContent-Length: 5\r\nX: y\r\nTRANSFER-Encoding : chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n", "400", 0},
		{"POST / HTTP/1.0\nTransfer-Encoding: chunked\n\n0\n\n", "400", 0},
		{"GET / HTTP/1.0\r\nX-Transfer-Encoding: chunked\r\nTransfer-Encodings: a\r\n\r\nTransfer-Encoding: chunked", "200", 1},
		{"GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, "200 200", 2},
	} {
		for _, oneByOne := range []bool{false, true} {
			seen = nil
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			from := io.Reader(strings.NewReader(tt.request))
			if oneByOne {
				from = iotest.OneByteReader(from)
			}
			_, _ = io.Copy(conn, from) // the server may have closed
			_ = conn.(*net.TCPConn).CloseWrite()
			var statuses []string
			for reader := bufio.NewReader(conn); ; {
				response, err := http.ReadResponse(reader, nil)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, response.Body)
				statuses = append(statuses, response.Status[:3])
			}
			conn.Close()
			if got := strings.Join(statuses, " "); got != tt.statuses || len(seen) != tt.handled {
				t.Errorf("%q: %s, want %s; handled %q", tt.request, got, tt.statuses, seen)
			}
		}
	}
}
