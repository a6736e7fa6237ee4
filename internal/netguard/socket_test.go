package netguard_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
)

func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	dial := netguard.Socket(time.Second, path)
	if _, err := dial(t.Context(), "tcp", "192.0.2.1:80"); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("without a listener: %v", err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := dial(t.Context(), "tcp", "192.0.2.1:80")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.RemoteAddr().String(); got != path {
		t.Errorf("%s", got)
	}
}
