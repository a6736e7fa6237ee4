//go:build e2e

package machines

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// manager is the notification socket of systemd, NOTIFY_SOCKET.
type manager struct{ *net.UnixConn }

// variable returns the environment variable for urnd.
func (m manager) variable() string { return "NOTIFY_SOCKET=" + m.LocalAddr().String() }

func listenNotify(t *testing.T) manager {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return manager{conn}
}

// receive returns the next notification, "" after a timeout.
func (m manager) receive(d time.Duration) string {
	_ = m.SetReadDeadline(time.Now().Add(d))
	notice := make([]byte, 4096)
	n, _ := m.Read(notice)
	return string(notice[:n])
}

// send appends a message of the test to those already received.
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

const statusPattern = `STATUS=\d+ answers cached, \d+ hits of \d+ lookups, \d+ connections$`

// TestNotifyReady: sd_notify(3): the service is ready when it listens, and a DNS server has responded or timed
// out.
func TestNotifyReady(t *testing.T) {
	t.Parallel()
	requested, answer := make(chan struct{}, 1), make(chan struct{})
	for _, tt := range []struct {
		name      string
		server    dns.HandlerFunc
		timeout   string
		meanwhile func(t *testing.T, m manager, l *fileDaemon)
		warned    int
	}{
		{"answer", func(w dns.ResponseWriter, question *dns.Msg) {
			requested <- struct{}{}
			<-answer
			urndtest.AnswerRcode(dns.RcodeNameError)(w, question)
		}, "20s", func(t *testing.T, m manager, l *fileDaemon) {
			testserver.Wait(t, "DNS is asked", func() bool { return len(requested) > 0 })
			if got := l.get(t, "/urn:book:1"); got.Status != http.StatusFound {
				t.Errorf("it listens already: %+v", got)
			}
			m.send(t, "DNS has not answered")
			close(answer)
			m.expect(t, "^DNS has not answered$")
		}, 0},
		{"failure", urndtest.AnswerRcode(dns.RcodeServerFailure), "20s", func(*testing.T, manager, *fileDaemon) {}, 1},
		{"silence", urndtest.Silent, "100ms", func(*testing.T, manager, *fileDaemon) {}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := listenNotify(t)
			service := freeAddress(t)
			l := newFileDaemon(t, "listen: {service: '"+service+"', admin: ''}",
				"dns: {servers: ['"+urndtest.UDPAndTCP(tt.server).Serve(t)+"'], timeout: "+tt.timeout+"}")
			l.url = "http://" + service
			l.serve(t, m.variable())
			tt.meanwhile(t, m, l)
			m.expect(t, "^READY=1\n"+statusPattern)
			l.stop(t)
			m.expect(t, "^STOPPING=1$")
			if warned := l.logged("no DNS server responds"); warned != tt.warned {
				t.Errorf("%d warnings", warned)
			}
		})
	}
}

func TestNotifyReload(t *testing.T) {
	t.Parallel()
	m := listenNotify(t)
	l := newFileDaemon(t)
	l.serve(t, m.variable())
	m.expect(t, "^READY=1\n"+statusPattern)
	l.hangup()
	m.expect(t, "^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*\n$", "^READY=1\n"+statusPattern)
	l.write(t, "dns: {timout: 1s}", "log: {format: prose}")
	l.hangup()
	m.expect(t, "^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*\n$",
		"^READY=1\nSTATUS=Reload failed: .*urnd.yaml:[0-9]+:[0-9]+: [^\n]*$")
	l.stop(t)
	m.expect(t, "^STOPPING=1$")
}

func TestNotifyWatchdog(t *testing.T) {
	t.Parallel()
	m := listenNotify(t)
	l := newFileDaemon(t, `listen: {service: "127.0.0.1:0", admin: "127.0.0.1:0", proxy_protocol: [192.0.2.0/24]}`)
	cmd := exec.Command("sh", "-c", `WATCHDOG_PID=$$ exec "$0" "$@"`, urndtest.Binary(t), "serve", "--config", l.file)
	cmd.Env = append(os.Environ(), m.variable(), "WATCHDOG_USEC=60000")
	l.run(t, cmd)
	m.expect(t, "^READY=1\n", "^"+statusPattern)
	for _, what := range []string{"WATCHDOG=1", "STATUS=", "WATCHDOG=1"} {
		testserver.Wait(t, "systemd is sent "+what,
			func() bool { return strings.HasPrefix(m.receive(time.Second), what) })
	}
}
