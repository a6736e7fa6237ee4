package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// fileDaemon is an urnd that reads its configuration from a file, as "urnd serve --config" does.
type fileDaemon struct {
	testService
	file         string
	secure       string // address of the listener for TLS
	admin        string
	pid          int // 0 is this process
	hangup, stop func()
}

// newFileDaemon writes the configuration of an urnd that is not started.
func newFileDaemon(t *testing.T, lines ...string) *fileDaemon {
	l := &fileDaemon{file: filepath.Join(t.TempDir(), "urnd.yaml")}
	l.log.next = t.Output()
	l.write(t, lines...)
	return l
}

// write replaces the file atomically. Of lines with the same key the last one is used.
func (l *fileDaemon) write(t *testing.T, lines ...string) {
	t.Helper()
	all := map[string]string{
		"listen": `{service: "127.0.0.1:0", admin: ""}`, "dns": `{servers: ["127.0.0.1:9"], timeout: 1s}`, // nobody listens there
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

// bookNamespace is the namespace "book", whose names lead to a host.
func bookNamespace(host string) string {
	return "[{nid: book, order: [namespace], targets: [{template: 'https://" + host + ".example/{+nss}'}]}]"
}

// startInProcess runs it in this process.
func (l *fileDaemon) startInProcess(t *testing.T, inherited map[string][]net.Listener) {
	t.Helper()
	stderr, written, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	deps := newDependencies()
	l.metrics = deps.metrics
	deps.stderr = written
	var origins config.Origins
	deps.origins = func() config.Origins { return origins }
	d := newDaemon(deps, l.file, func() (c config.Config, err error) {
		c, origins, err = config.LoadOrigins(l.file, nil)
		return c, err
	}, inherited)
	ctx, cancel := context.WithCancel(context.Background())
	hangups := make(chan os.Signal, 1)
	l.hangup = func() { hangups <- syscall.SIGHUP }
	ended := make(chan error, 1)
	go func() {
		ended <- d.Run(ctx, hangups)
		written.Close()
	}()
	var reading sync.WaitGroup
	reading.Go(func() {
		_, _ = io.Copy(&l.log, stderr)
		stderr.Close()
	})
	l.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		reading.Wait()
	})
	t.Cleanup(l.stop)
}

// startProgram runs it as a program.
func (l *fileDaemon) startProgram(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stderr = &l.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.pid = cmd.Process.Pid
	l.hangup = func() { _ = cmd.Process.Signal(syscall.SIGHUP) }
	l.stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("urnd ended with %v", err)
		}
	})
	t.Cleanup(l.stop)
}

// start runs a fileDaemon in this process, and returns when it is ready.
func start(t *testing.T, lines ...string) *fileDaemon {
	t.Helper()
	l := newFileDaemon(t, lines...)
	l.startInProcess(t, nil)
	l.ready(t)
	return l
}

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
	taken, refused := l.logged("was reloaded"), l.logged("was not reloaded")
	l.hangup()
	testserver.Wait(t, "the log has the outcome of the reload", func() bool { return l.logged("was reloaded")+l.logged("was not reloaded") > taken+refused })
	return l.logged("was reloaded") > taken
}

// manager is the socket of systemd, NOTIFY_SOCKET.
type manager struct{ *net.UnixConn }

func listenNotify(t *testing.T) manager {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return manager{conn}
}

// receive returns the next notification, "" where none comes in time.
func (m manager) receive(d time.Duration) string {
	_ = m.SetReadDeadline(time.Now().Add(d))
	notice := make([]byte, 4096)
	n, _ := m.Read(notice)
	return string(notice[:n])
}

// send puts a message of the test behind those that have come already.
func (m manager) send(t *testing.T, text string) {
	t.Helper()
	conn, err := net.Dial("unixgram", m.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

func (m manager) expect(t *testing.T, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if notice := m.receive(20 * time.Second); !regexp.MustCompile(pattern).MatchString(notice) {
			t.Errorf("systemd is sent %q, want %q", notice, pattern)
		}
	}
}

const statusPattern = `STATUS=\d+ answers cached, \d+ of \d+ lookups hit, \d+ connections$`

// sd_notify(3): the service is ready when it listens, and a DNS server has
// answered or had its time.
func TestNotifyReady(t *testing.T) {
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	for _, tt := range []struct {
		name      string
		server    dns.HandlerFunc
		timeout   string
		meanwhile func(t *testing.T, m manager, l *fileDaemon)
		warned    int
	}{
		{"answer", func(w dns.ResponseWriter, question *dns.Msg) {
			asked <- struct{}{}
			<-answer
			answerRcode(dns.RcodeNameError)(w, question)
		}, "20s", func(t *testing.T, m manager, l *fileDaemon) {
			testserver.Wait(t, "DNS is asked", func() bool { return len(asked) > 0 })
			if got := l.get(t, "/urn:book:1"); got.status != http.StatusFound {
				t.Errorf("it listens already: %+v", got)
			}
			m.send(t, "DNS has not answered")
			close(answer)
			m.expect(t, "^DNS has not answered$")
		}, 0},
		{"failure", answerRcode(dns.RcodeServerFailure), "20s", func(*testing.T, manager, *fileDaemon) {}, 1},
		{"silence", silent, "100ms", func(*testing.T, manager, *fileDaemon) {}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := listenNotify(t)
			service := freeAddress(t)
			l := newFileDaemon(t, "listen: {service: '"+service+"', admin: ''}", "dns: {servers: ['"+udpAndTCP(tt.server).serve(t)+"'], timeout: "+tt.timeout+"}")
			l.url = "http://" + service
			l.startInProcess(t, nil)
			tt.meanwhile(t, m, l)
			m.expect(t, "^READY=1\n"+statusPattern)
			l.stop()
			m.expect(t, "^STOPPING=1$")
			if warned := l.logged("no DNS server answers"); warned != tt.warned {
				t.Errorf("%d warnings", warned)
			}
		})
	}
}

func TestNotifyReload(t *testing.T) {
	m := listenNotify(t)
	l := start(t)
	m.expect(t, "^READY=1\n"+statusPattern)
	l.hangup()
	m.expect(t, "^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*\n$", "^READY=1\n"+statusPattern)
	l.write(t, "dns: {timout: 1s}", "log: {format: prose}")
	l.hangup()
	m.expect(t, "^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*\n$", "^READY=1\nSTATUS=Reload refused: .*urnd.yaml:[0-9]+: [^\n]*$")
	l.stop()
	m.expect(t, "^STOPPING=1$")
}

func TestNotifyWatchdog(t *testing.T) {
	t.Setenv("WATCHDOG_USEC", "60000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	m := listenNotify(t)
	start(t, `listen: {service: "127.0.0.1:0", admin: "127.0.0.1:0", proxy_protocol: [192.0.2.0/24]}`)
	m.expect(t, "^READY=1\n", "^"+statusPattern)
	for _, what := range []string{"WATCHDOG=1", "STATUS=", "WATCHDOG=1"} {
		testserver.Wait(t, "systemd is sent "+what, func() bool { return strings.HasPrefix(m.receive(time.Second), what) })
	}
}
