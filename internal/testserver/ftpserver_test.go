package testserver

import (
	"bufio"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// ftpServers returns the start functions of all FTP servers.
func ftpServers() map[string]func(testing.TB) *FTPServer {
	return map[string]func(testing.TB) *FTPServer{
		"vsftpd":  func(t testing.TB) *FTPServer { return StartVsftpd(t, OpenFolder(t)) },
		"ProFTPD": func(t testing.TB) *FTPServer { return StartProFTPD(t, OpenFolder(t)) },
		"PureFTPd": func(t testing.TB) *FTPServer {
			return StartPureFTPd(t, OpenFolder(t), "user", "secret")
		},
	}
}

// orphanServer is the environment variable that makes TestFTPServerDies start a server in its child process.
const orphanServer = "TESTSERVER_ORPHAN"

// TestFTPServerDies checks that a server ends with a killed test.
func TestFTPServerDies(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	if name := os.Getenv(orphanServer); name != "" {
		s := ftpServers()[name](t)
		if _, err := os.Stdout.WriteString("\nserver " + s.Addr() + "\n"); err != nil {
			t.Fatal(err)
		}
		select {} // until it is killed
	}
	for name, start := range ftpServers() {
		t.Run(name, func(t *testing.T) {
			start(t) // or the test is skipped
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFTPServerDies$")
			cmd.Env = append(os.Environ(), orphanServer+"="+name)
			output, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var addr string
			for lines := bufio.NewScanner(output); addr == "" && lines.Scan(); {
				addr, _ = strings.CutPrefix(lines.Text(), "server ")
				if addr == lines.Text() {
					addr = ""
				}
			}
			_ = cmd.Process.Kill() // fails only if it has ended
			_ = cmd.Wait()         // it was killed
			if addr == "" {
				t.Fatal("no server was started")
			}
			Wait(t, "the server has ended", func() bool { return !isTaken(netip.MustParseAddrPort(addr)) })
		})
	}
}

// TestFTPServerLaunch checks that another port is only tried if a port is in use.
func TestFTPServerLaunch(t *testing.T) {
	StartProFTPD(t, OpenFolder(t)) // or the test is skipped
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	free, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	program := ftpProgram{
		path:      "/bin/false",
		arguments: func(netip.AddrPort, string) ([]string, error) { return nil, nil },
	}
	for addr, want := range map[netip.AddrPort]bool{listener.Addr().(*net.TCPAddr).AddrPort(): true, free: false} {
		if _, err := launchFTPServer(t.TempDir(), addr, program); err == nil || errors.Is(err, errPortTaken) != want {
			t.Errorf("%s is taken: %t, got %v", addr, want, err)
		}
	}
}
