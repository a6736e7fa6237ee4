package urndtest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// Exchange sends a request "METHOD TARGET" without a body unmodified, including targets that net/http does not
// send, such as a gopher URL to a proxy. Host is the address of urnd unless fields contain another one.
func (d *Daemon) Exchange(t testing.TB, request string, fields ...string) Response {
	t.Helper()
	address := strings.TrimPrefix(d.URL, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testserver.Timeout))
	lines := append([]string{request + " HTTP/1.1", "Connection: close", "Content-Length: 0"}, fields...)
	if !slices.ContainsFunc(fields, func(field string) bool { return strings.HasPrefix(field, "Host: ") }) {
		lines = append(lines, "Host: "+address)
	}
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	h := response.Header
	return Response{
		response.StatusCode, h.Get("Location"), h.Get("Cache-Status"), h.Get("Cache-Control"), h,
		string(text),
	}
}
