package testserver

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// FTPServer is a running vsftpd, ProFTPD or Pure-FTPd. Any goroutine may call its methods.
type FTPServer struct {
	addr    netip.AddrPort
	process *process
	log     string
}

// ftpProgram describes how to run an FTP server. arguments returns the arguments for an address, and writes
// files that they name to dir, a folder accessible to every user.
type ftpProgram struct {
	path      string
	arguments func(addr netip.AddrPort, dir string) ([]string, error)
}

// startFTPServer starts an FTP server, which ends with the test. It requires root, because the servers change
// the root directory and the user of their sessions.
func startFTPServer(t testing.TB, program ftpProgram) *FTPServer {
	t.Helper()
	if os.Geteuid() != 0 {
		const why = "only root can start an FTP server"
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	const attempts = 5
	var last error
	for range attempts {
		addr, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		s, err := launchFTPServer(OpenFolder(t), addr, program)
		if err == nil {
			t.Cleanup(func() {
				if err := s.stop(); err != nil {
					t.Errorf("%s: %v\n%s", program.path, err, s.Log())
				}
			})
			return s
		}
		if last = err; !errors.Is(err, errPortTaken) {
			break
		}
	}
	t.Fatalf("start %s: %v", program.path, last)
	return nil
}

// launchFTPServer starts a server at addr. The error wraps errPortTaken if another process uses the port; each
// server reports that differently.
func launchFTPServer(dir string, addr netip.AddrPort, program ftpProgram) (*FTPServer, error) {
	arguments, err := program.arguments(addr, dir)
	if err != nil {
		return nil, err
	}
	s := &FTPServer{addr: addr, log: filepath.Join(dir, "log")}
	if s.process, err = startProcess(dir, s.log, program.path, arguments...); err != nil {
		return nil, err
	}
	if err = poll(func() (bool, error) { return s.isReady(), s.process.ended() }); err != nil {
		err = errors.Join(fmt.Errorf("%w\n%s", err, s.Log()), s.stop())
		if isTaken(addr) {
			err = errors.Join(errPortTaken, err)
		}
		return nil, err
	}
	return s, nil
}

// isReady reports whether the server sends its greeting.
func (s *FTPServer) isReady() bool {
	conn, err := net.DialTimeout("tcp", s.Addr(), time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "220")
}

// stop stops the server. Some servers exit by the signal itself.
func (s *FTPServer) stop() error {
	err := s.process.stop()
	if state := s.process.cmd.ProcessState; state != nil {
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() &&
			status.Signal() == syscall.SIGTERM {
			return nil
		}
	}
	return err
}

// Addr returns the listening address as "127.0.0.1:port".
func (s *FTPServer) Addr() string { return s.addr.String() }

// Log returns the output of the server, "" if it cannot be read.
func (s *FTPServer) Log() string {
	text, _ := os.ReadFile(s.log) // a server may have no output
	return string(text)
}
