//go:build e2e

package names

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// raw sends the lines of a request without a body, and returns the response.
func raw(t *testing.T, d *urndtest.Daemon, lines ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, strings.Join(append(lines, "Connection: close"), "\r\n")+"\r\n\r\n")
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
