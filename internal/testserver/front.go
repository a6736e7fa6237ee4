package testserver

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// StartFront runs a server program of Debian without specific support in this package, such as a proxy in front
// of urnd, as the user nobody until the test ends. dir is a folder accessible to every user (OpenFolder), and
// address the listening address as host:port.
func StartFront(t testing.TB, dir, binary, address string, arguments ...string) {
	t.Helper()
	cmd := exec.Command(Need(t, binary), arguments...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	if err := asNobody(cmd); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, binary+".out")
	p, err := startCommand(dir, log, cmd)
	if err != nil {
		t.Fatal(err)
	}
	err = poll(func() (bool, error) {
		if err := p.ended(); err != nil {
			return false, err
		}
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil, nil
	})
	text := func() []byte { text, _ := os.ReadFile(log); return text }
	if err != nil {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.done
		t.Fatalf("start %s: %v\n%s", binary, err, text())
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // some have their own exit status after SIGTERM
		<-p.done
		if t.Failed() {
			t.Logf("%s: %s", binary, text())
		}
	})
}
