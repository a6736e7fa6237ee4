package testserver

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestSquid checks that Squid generates an error response if it cannot reach a server.
func TestSquid(t *testing.T) {
	s := StartSquid(t, OpenFolder(t), "# no more")
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET nothing:x HTTP/1.1\r\nHost: a\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusBadRequest || !strings.HasPrefix(response.Header.Get("Server"), "squid/") {
		t.Errorf("%s, %q", response.Status, response.Header)
	}
	if log := s.Log(); !strings.Contains(log, "Accepting HTTP Socket connections") {
		t.Errorf("log: %s", log)
	}
}

// TestSquidDoesNotStart checks that an invalid configuration is reported with the message of Squid, and a port
// in use as such.
func TestSquidDoesNotStart(t *testing.T) {
	path := Need(t, "squid")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := taken.Addr().(*net.TCPAddr).AddrPort()
	if _, err := launchSquid(t, path, OpenFolder(t), addr, []string{"url_rewrite_program /nonexistent"}); err == nil ||
		!strings.Contains(err.Error(),
			"/nonexistent") {
		t.Errorf("a wrong configuration: %v", err)
	}
	if _, err := launchSquid(t, path, OpenFolder(t), addr, nil); !errors.Is(err, errPortTaken) {
		t.Errorf("a port that is taken: %v", err)
	}
}
