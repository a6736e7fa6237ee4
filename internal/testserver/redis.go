package testserver

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Redis is a running Redis server without persistence: it is empty after each start. Only the goroutine of the
// test may call its methods, which may end it.
type Redis struct {
	t       testing.TB
	dir     string
	addr    netip.AddrPort
	args    []string
	process *process // nil while stopped

	tls  netip.AddrPort // address of TLSAddr; the zero value for none
	ca   *Authority
	pair string // folder of its certificate and key
}

// StartRedis starts an empty server with additional arguments such as "--maxmemory", "2mb", and waits until it
// responds. It ends with the test.
func StartRedis(t testing.TB, args ...string) *Redis {
	t.Helper()
	return new(Redis).launch(t, args)
}

// launch starts the server on a free port for the first time.
func (r *Redis) launch(t testing.TB, args []string) *Redis {
	t.Helper()
	r.t, r.dir, r.args = t, t.TempDir(), args
	const attempts = 5
	var err error
	for range attempts {
		if r.addr, err = freePort(); err != nil {
			break
		}
		if err = r.start(); !errors.Is(err, errPortTaken) {
			break
		}
	}
	if err != nil {
		t.Fatalf("start Redis: %v", err)
	}
	t.Cleanup(func() {
		if r.process != nil {
			r.Stop()
		}
	})
	return r
}

func (r *Redis) output() string { return filepath.Join(r.dir, "redis.out") }

// start starts the server and waits until it is ready.
func (r *Redis) start() error {
	if err := os.WriteFile(r.output(), nil, 0o600); err != nil { // remove the output of an earlier attempt
		return err
	}
	args := append([]string{
		"--bind", r.addr.Addr().String(), "--port", strconv.Itoa(int(r.addr.Port())), "--save", "", "--appendonly",
		"no", "--dir", r.dir,
	}, r.args...)
	var err error
	if r.process, err = startProcess(r.dir, r.output(), Need(r.t, "redis-server"), args...); err != nil {
		return err
	}
	err = poll(func() (bool, error) {
		output, _ := os.ReadFile(r.output())
		ended := r.process.ended()
		if ended != nil && strings.Contains(string(output), "Address already in use") {
			ended = errPortTaken
		}
		return strings.Contains(string(output), "Ready to accept connections"), ended
	})
	if err != nil {
		output, _ := os.ReadFile(r.output())
		err = fmt.Errorf("%w\n%s", err, output)
		r.process = nil
	}
	return err
}

// Addr returns the listening address as "127.0.0.1:port".
func (r *Redis) Addr() string { return r.addr.String() }

// URL returns the URL of the first database.
func (r *Redis) URL() string { return "redis://" + r.Addr() }

// Start restarts a stopped server on the same port. It is empty.
func (r *Redis) Start() {
	r.t.Helper()
	err := poll(func() (bool, error) {
		err := r.start()
		if errors.Is(err, errPortTaken) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		r.t.Fatalf("start Redis again: %v", err)
	}
}

// Stop stops the server, which closes all connections. Its data is lost.
func (r *Redis) Stop() {
	r.t.Helper()
	if err := r.process.stop(); err != nil {
		r.t.Errorf("stop Redis: %v", err)
	}
	r.process = nil
}

// Kill kills the server as a power failure would.
func (r *Redis) Kill() {
	r.t.Helper()
	r.signal(syscall.SIGKILL)
	<-r.process.done
	r.process = nil
}

// Freeze stops the server from responding until Thaw. It keeps its connections and accepts new ones.
func (r *Redis) Freeze() { r.signal(syscall.SIGSTOP) }

// Thaw resumes a frozen server.
func (r *Redis) Thaw() { r.signal(syscall.SIGCONT) }

func (r *Redis) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.process.cmd.Process.Signal(s); err != nil {
		r.t.Fatalf("signal Redis: %v", err)
	}
}

// Do sends a command on a separate connection and returns the unparsed RESP response, at most 64 KiB of it.
func (r *Redis) Do(words ...string) string {
	r.t.Helper()
	conn, err := net.DialTimeout("tcp", r.Addr(), Timeout)
	if err != nil {
		r.t.Fatalf("ask Redis: %v", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(Timeout)) // fails only for a closed connection
	var command bytes.Buffer
	fmt.Fprintf(&command, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&command, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := conn.Write(command.Bytes()); err != nil {
		r.t.Fatalf("ask Redis: %v", err)
	}
	reply := make([]byte, 64<<10)
	n, err := conn.Read(reply)
	if err != nil {
		r.t.Fatalf("ask Redis: %v", err)
	}
	return string(reply[:n])
}
