package testserver

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// nodeExit makes Node.js exit with status 0 at SIGTERM.
const nodeExit = "process.on('SIGTERM', () => process.exit(0));\n"

// StartNode runs a Node.js script in a folder accessible to every user (OpenFolder) as the user nobody, until
// the test ends. The script listens on TCP at 127.0.0.1 and the port process.env.PORT; that address is
// returned.
func StartNode(t testing.TB, dir, script string) netip.AddrPort {
	t.Helper()
	path := Need(t, "node")
	file, log := filepath.Join(dir, "server.js"), filepath.Join(dir, "node.out")
	if err := os.WriteFile(file, []byte(nodeExit+script), 0o644); err != nil {
		t.Fatal(err)
	}
	addr, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, file)
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", addr.Port()))
	if err := asNobody(cmd); err != nil {
		t.Fatal(err)
	}
	p, err := startCommand(dir, log, cmd)
	if err != nil {
		t.Fatal(err)
	}
	output := func() string {
		text, _ := os.ReadFile(log) // only for a message
		return string(text)
	}
	if err := poll(func() (bool, error) { return isTaken(addr), p.ended() }); err != nil {
		t.Fatalf("start node: %v\n%s", errors.Join(err, p.stop()), output())
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Errorf("node: %v\n%s", err, output())
		}
	})
	return addr
}
