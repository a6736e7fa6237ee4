package testserver

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Squid is a running Squid, an HTTP proxy for clients on loopback with a memory cache.
type Squid struct {
	t       testing.TB
	dir     string
	addr    netip.AddrPort
	process *process
}

const (
	squidConfigFile = "squid.conf"
	squidOutputFile = "squid.out"
	squidLogFile    = "cache.log" // created by Squid; its helpers write to it, too
	squidLogFolder  = "log"
)

// squidAccess contains the rules after those of the test, and disables the access log.
const squidAccess = "\nhttp_access allow localhost\nhttp_access deny all\naccess_log none\n"

// squidOptions permits several servers side by side, and beside a Squid of the machine: they use no files
// outside their folder. There is no DNS server.
const squidOptions = `http_port %s
visible_hostname squid.test
dns_nameservers 127.0.0.1
pid_filename none
netdb_filename none
pinger_enable off
memory_cache_shared off
cache_mem 8 MB
max_filedescriptors 1024
shutdown_lifetime 0 seconds
cache_log %s
coredump_dir %s
`

// StartSquid starts Squid with lines of squid.conf and waits until it accepts connections. dir is its folder,
// which must be accessible to every user, because Squid and its helpers drop root. Squid stops at the end of
// the test.
func StartSquid(t testing.TB, dir string, lines ...string) *Squid {
	t.Helper()
	path := Need(t, "squid")
	const attempts = 5
	var last error
	for range attempts {
		addr, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		s, err := launchSquid(t, path, dir, addr, lines)
		if err == nil {
			t.Cleanup(s.stop)
			return s
		}
		if last = err; !errors.Is(err, errPortTaken) {
			break
		}
	}
	t.Fatalf("start Squid: %v", last)
	return nil
}

// OpenFolder returns a new folder that is accessible to every user, unlike testing.T.TempDir. It is removed at
// the end of the test.
func OpenFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "testserver")
	if err == nil {
		t.Cleanup(func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		})
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// launchSquid starts Squid at addr. The error wraps errPortTaken if another process uses the port.
func launchSquid(t testing.TB, path, dir string, addr netip.AddrPort, lines []string) (*Squid, error) {
	t.Helper()
	s := &Squid{t: t, dir: dir, addr: addr}
	err := s.write(lines)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "-n", s.service(), "-N", "-d", "1", "-f", filepath.Join(dir, squidConfigFile))
	if err := asNobody(cmd); err != nil {
		return nil, err
	}
	if s.process, err = startCommand(dir, filepath.Join(dir, squidOutputFile), cmd); err != nil {
		return nil, err
	}
	err = poll(func() (bool, error) {
		ended, output := s.process.ended(), s.output()
		if strings.Contains(output, "Accepting HTTP Socket connections") { // logged shortly before
			return accepts(t.Context(), addr), nil
		}
		if ended != nil && strings.Contains(output, "Address already in use") {
			ended = errPortTaken
		}
		return false, ended
	})
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, s.output())
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

// service returns the prefix of the names of shared memory segments.
func (s *Squid) service() string { return fmt.Sprintf("test%d", s.addr.Port()) }

// write writes the configuration and creates the folder of the log.
func (s *Squid) write(lines []string) error {
	logs := filepath.Join(s.dir, squidLogFolder)
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(logs, 0o777); err != nil { // Squid's user writes there
		return err
	}
	// Remove the output of an earlier attempt.
	if err := os.WriteFile(filepath.Join(s.dir, squidOutputFile), nil, 0o600); err != nil {
		return err
	}
	text := fmt.Sprintf(squidOptions, s.addr, filepath.Join(logs, squidLogFile), logs) + strings.Join(lines, "\n") +
		squidAccess
	return os.WriteFile(filepath.Join(s.dir, squidConfigFile), []byte(text), 0o644)
}

// output returns the output of Squid, "" if it cannot be read.
func (s *Squid) output() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, squidOutputFile)) // only for a message
	return string(text)
}

// Addr returns the listening address as "127.0.0.1:port".
func (s *Squid) Addr() string { return s.addr.String() }

// Log returns the log of Squid and its helpers.
func (s *Squid) Log() string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, squidLogFolder, squidLogFile))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *Squid) stop() {
	if err := s.end(); err != nil {
		s.t.Errorf("Squid: %v\n%s", err, s.output())
	}
}

// end stops the process, and removes the shared memory that it leaves after a failure.
func (s *Squid) end() error {
	err := s.process.stop()
	segments, _ := filepath.Glob("/dev/shm/" + s.service() + "-*") // the pattern is valid
	for _, segment := range segments {
		err = errors.Join(err, os.Remove(segment))
	}
	return err
}
