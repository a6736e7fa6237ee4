//go:build e2e

package machines

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// logBuffer collects a log. It is safe for concurrent use.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
	next io.Writer
}

// Write implements io.Writer.
func (j *logBuffer) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text.Write(p)
	return j.next.Write(p)
}

func (j *logBuffer) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// fileDaemon is an urnd whose configuration file the test writes setting by setting. Unlike a urndtest.Daemon
// it can be observed before it is ready.
type fileDaemon struct {
	file   string
	log    logBuffer
	url    string
	secure string // address of the TLS listener
	admin  string // address

	process *os.Process
	end     func(os.Signal) error // returns the exit status
}

// newFileDaemon writes the configuration of an urnd without starting it.
func newFileDaemon(t *testing.T, lines ...string) *fileDaemon {
	t.Helper()
	l := &fileDaemon{file: filepath.Join(t.TempDir(), "urnd.yaml")}
	l.log.next = t.Output()
	l.write(t, lines...)
	return l
}

// write replaces the file atomically. The last of lines with the same key is used.
func (l *fileDaemon) write(t *testing.T, lines ...string) {
	t.Helper()
	all := map[string]string{
		// Closed port.
		"listen": `{service: "127.0.0.1:0", admin: ""}`, "dns": `{servers: ["127.0.0.1:9"], timeout: 1s}`,
		"log": "{format: text}", "cache": "{answers: 1MiB, records: 1MiB}", "namespaces": bookNamespace("a"),
		"access": "{allow_destinations: [127.0.0.0/8]}",
	}
	for _, line := range lines {
		key, value, _ := strings.Cut(line, ": ")
		all[key] = value
	}
	var text strings.Builder
	for key, value := range all {
		text.WriteString(key + ": " + value + "\n")
	}
	if err := os.WriteFile(l.file+".new", []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(l.file+".new", l.file); err != nil {
		t.Fatal(err)
	}
}

// bookNamespace is the namespace "book", whose names resolve to a host.
func bookNamespace(host string) string {
	return "[{nid: book, order: [namespace], targets: [{template: 'https://" + host + ".example/{+nss}'}]}]"
}

// start runs a fileDaemon and waits until it is ready.
func start(t *testing.T, lines ...string) *fileDaemon {
	t.Helper()
	l := newFileDaemon(t, lines...)
	l.serve(t)
	l.ready(t)
	return l
}

// serve runs it with additional environment variables.
func (l *fileDaemon) serve(t *testing.T, environment ...string) {
	t.Helper()
	cmd := exec.Command(urndtest.Binary(t), "serve", "--config", l.file)
	cmd.Env = append(os.Environ(), environment...)
	l.run(t, cmd)
}

// serveOn runs it with a named listening socket, like systemd.
func (l *fileDaemon) serveOn(t *testing.T, socket *os.File, name string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, urndtest.Binary(t), "serve", "--config", l.file)
	cmd.ExtraFiles = []*os.File{socket}
	cmd.Env = append(os.Environ(), "LISTEN_FDS=1", "LISTEN_FDNAMES="+name)
	l.run(t, cmd)
}

// run runs it by a command until stop or the end of the test.
func (l *fileDaemon) run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stderr = &l.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.process = cmd.Process
	var once sync.Once
	l.end = func(signal os.Signal) (err error) {
		once.Do(func() {
			_ = cmd.Process.Signal(signal) // it may have ended
			err = cmd.Wait()
		})
		return err
	}
	t.Cleanup(func() { l.stop(t) })
}

// stop stops it if it is running, and waits until its log is complete.
func (l *fileDaemon) stop(t *testing.T) {
	t.Helper()
	if err := l.end(syscall.SIGTERM); err != nil {
		t.Errorf("urnd ended with %v", err)
	}
}

// hangup sends SIGHUP.
func (l *fileDaemon) hangup() { _ = l.process.Signal(syscall.SIGHUP) }

func (l *fileDaemon) ready(t *testing.T) {
	t.Helper()
	var found []string
	testserver.Wait(t, "urnd is ready", func() bool {
		found = regexp.MustCompile(`msg="urnd is ready" service=(\S+|".*?") tls=(\S+) admin=(\S+)`).FindStringSubmatch(l.log.String())
		return found != nil
	})
	l.url, l.secure, l.admin = "http://"+found[1], found[2], found[3]
}

func (l *fileDaemon) logged(text string) int { return strings.Count(l.log.String(), text) }

// reload sends SIGHUP, and reports whether the new configuration is in force.
func (l *fileDaemon) reload(t *testing.T) bool {
	t.Helper()
	taken, refused := l.logged("configuration reloaded"), l.logged("configuration reload failed")
	l.hangup()
	testserver.Wait(t, "the log has the outcome of the reload", func() bool {
		return l.logged("configuration reloaded")+l.logged("configuration reload failed") > taken+refused
	})
	return l.logged("configuration reloaded") > taken
}

// get sends a GET for a path on a new connection.
func (l *fileDaemon) get(t *testing.T, path string) urndtest.Response {
	t.Helper()
	return urndtest.Send(t, "GET "+l.url+path, "")
}

// request creates a request without a body.
func request(t *testing.T, method, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// expectMetrics checks that the metrics contain lines, without their prefix "urnd_". It needs listen.admin.
func (l *fileDaemon) expectMetrics(t *testing.T, lines ...string) {
	t.Helper()
	(&urndtest.Daemon{Admin: "http://" + l.admin}).ExpectMetrics(t, lines...)
}

// descriptors returns the number of its open file descriptors.
func (l *fileDaemon) descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", l.process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// hosts counts the addresses of freeAddress.
var hosts atomic.Int32 //nolint:gochecknoglobals // only used by tests

// freeAddress returns an unused address for listeners whose address must be known in advance.
func freeAddress(t *testing.T) string {
	t.Helper()
	return freeAddresses(t, 1)[0]
}

// freeAddresses returns free addresses of a loopback host that is used for nothing else, because clients take
// free ports of 127.0.0.1 continuously.
func freeAddresses(t *testing.T, n int) (all []string) {
	t.Helper()
	id := os.Getpid()<<8 + int(hosts.Add(1))
	for range n {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 1+id>>16&0x7f, id>>8&0xff, id&0xff))
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		all = append(all, listener.Addr().String())
	}
	return all
}

// socketAt returns the inode of the socket listening on an address, "" for none.
func socketAt(t *testing.T, address string) string {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ip := at.IP.To4()
	want := fmt.Sprintf("%02X%02X%02X%02X:%04X", ip[3], ip[2], ip[1], ip[0], at.Port)
	for line := range strings.Lines(string(table)) {
		const listens = "0A"
		if f := strings.Fields(line); f[1] == want && f[3] == listens {
			return f[9]
		}
	}
	return ""
}
