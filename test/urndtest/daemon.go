package urndtest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// Daemon is a running urnd, started like "urnd serve".
type Daemon struct {
	URL, Admin string // without a trailing slash
	TLS        string // host:port; "off" if disabled
	Config     config.Config
	Process    *os.Process

	file   string // configuration file
	log    log
	stop   func()
	killed atomic.Bool
}

// Default returns a test configuration: listeners on free loopback ports, one DNS server with namespaces below
// urn.example.org, small caches, and a JSON log.
func Default(dns string) config.Config {
	c := config.Default()
	c.Listen.Service, c.Listen.Admin = []string{"127.0.0.1:0"}, "127.0.0.1:0"
	c.DNS.Servers = []config.Server{{AddrPort: netip.MustParseAddrPort(dns)}}
	c.DNS.Timeout, c.DNS.Rounds = time.Second, 1
	c.DDDS.Roots = []string{"urn.example.org."}
	c.Cache.Answers, c.Cache.Records = 1<<20, 1<<20
	c.Log.Format = "json"
	return c
}

// Start runs urnd with Default and a change, which may be nil, until Stop or the end of the test. It waits
// until urnd is ready.
func Start(t testing.TB, dns string, change func(*config.Config)) *Daemon {
	t.Helper()
	c := Default(dns)
	if change != nil {
		change(&c)
	}
	return StartConfig(t, c)
}

// StartConfig is like Start with a complete configuration.
func StartConfig(t testing.TB, c config.Config, environment ...string) *Daemon {
	t.Helper()
	d := &Daemon{Config: c, file: filepath.Join(t.TempDir(), "urnd.yaml")}
	d.write(t)
	command := exec.Command(Binary(t), "serve", "--config", d.file)
	command.Env = append(withoutPictures(), environment...)
	d.start(t, command)
	return d
}

// StartCommand runs an urnd command created by a test, such as under another program. The test provides its
// arguments and environment; its log must be JSON.
func StartCommand(t testing.TB, command *exec.Cmd) *Daemon {
	t.Helper()
	d := new(Daemon)
	d.start(t, command)
	return d
}

// write writes the configuration file.
func (d *Daemon) write(t testing.TB) {
	t.Helper()
	text, err := yaml.Marshal(config.ToPlain(d.Config.Map()))
	if err == nil {
		err = os.WriteFile(d.file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (d *Daemon) start(t testing.TB, command *exec.Cmd) {
	t.Helper()
	stderr, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	d.Process = command.Process
	ready := make(chan readiness, 1)
	var reading sync.WaitGroup
	reading.Go(func() { d.log.read(t, stderr, ready) })
	d.stop = sync.OnceFunc(func() {
		_ = command.Process.Signal(os.Interrupt) // it may have ended
		reading.Wait()
		if err := command.Wait(); err != nil && !d.killed.Load() {
			t.Errorf("urnd ended with %v", err)
		}
	})
	t.Cleanup(d.stop)
	at, ok := <-ready
	if !ok {
		d.stop()
		t.Fatalf("urnd has ended before it was ready:\n%s", d.Log())
	}
	d.URL, d.Admin, d.TLS = "http://"+at.Service, "http://"+at.Admin, at.TLS
}

// Stop stops urnd and waits until its log is complete.
func (d *Daemon) Stop() { d.stop() }

// Kill kills urnd as in a crash, and waits until it has ended.
func (d *Daemon) Kill(t testing.TB) {
	t.Helper()
	d.killed.Store(true)
	if err := d.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	d.stop()
}

// Reload changes the configuration, sends SIGHUP, and waits until the log reports success or failure of the
// reload.
func (d *Daemon) Reload(t testing.TB, change func(*config.Config)) {
	t.Helper()
	change(&d.Config)
	d.write(t)
	const done = `"configuration reload` // "reloaded" or "reload failed"; also in text format
	before := strings.Count(d.Log(), done)
	if err := d.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	testserver.Wait(t, "urnd has reloaded", func() bool { return strings.Count(d.Log(), done) > before })
}

// Log returns the log of urnd so far.
func (d *Daemon) Log() string { return d.log.String() }

// WaitForLog waits for a line of the log that contains part.
func (d *Daemon) WaitForLog(t testing.TB, part string) {
	t.Helper()
	testserver.Wait(t, "the log has "+part, func() bool { return strings.Contains(d.Log(), part) })
}

// readiness contains the addresses in the record "urnd is ready".
type readiness struct{ Msg, Service, Admin, TLS string }

// log collects the lines of a log. It is safe for concurrent use.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// read copies lines until the end, sends the addresses once urnd is ready, and closes ready.
func (l *log) read(t testing.TB, from io.Reader, ready chan<- readiness) {
	defer close(ready)
	isReady := false
	for lines := bufio.NewReader(from); ; {
		line, err := lines.ReadString('\n')
		l.mu.Lock()
		l.text.WriteString(line)
		l.mu.Unlock()
		_, _ = io.WriteString(t.Output(), line)
		var at readiness
		if !isReady && json.Unmarshal([]byte(line), &at) == nil && at.Msg == "urnd is ready" {
			isReady = true
			ready <- at
		}
		if err != nil {
			return
		}
	}
}

// Scrape returns the metrics in the format for Prometheus.
func (d *Daemon) Scrape(t testing.TB) string {
	t.Helper()
	status, text := d.AdminRequest(t, "GET /metrics")
	if status != http.StatusOK {
		t.Fatalf("/metrics: %d %s", status, text)
	}
	return text
}

// ExpectMetrics checks that the metrics contain lines, without their prefix "urnd_".
func (d *Daemon) ExpectMetrics(t testing.TB, lines ...string) {
	t.Helper()
	text := d.Scrape(t)
	for _, line := range lines {
		if !strings.Contains(text, "\nurnd_"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

// OpenLoopback permits urnd to connect to test servers.
func OpenLoopback(c *config.Config) {
	c.Access.AllowDestinations = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// withoutPictures returns the environment without the variable for screenshots: urnd rejects unknown variables
// with its own prefix.
func withoutPictures() []string {
	return slices.DeleteFunc(os.Environ(), func(one string) bool { return strings.HasPrefix(one, "URND_PICTURES=") })
}
