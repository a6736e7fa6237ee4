//go:build e2e

package registry

import (
	"bytes"
	"context"
	"errors"
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
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// onSockets is an urnd with sockets opened before it, as by systemd, with a registry in a PostgreSQL that a
// test can freeze.
type onSockets struct {
	urndtest.Daemon // without a log
	relay           *testserver.Relay
	manager         *net.UnixConn // acts as systemd, NOTIFY_SOCKET
	log             string        // path of its file
	stop            func()
}

// item is the path of an identifier at id.example.
const item = "/01/09506000134352"

// openingSettings returns the settings of the registry filled by fillForOpening.
func openingSettings(store string, settings ...string) string {
	return strings.Join(append(settings,
		"registry: {store: '"+store+
			"', owned: ['urn:example:', 'ark:/12345/', 'hdl:20.500.1/'], hosts: [purl.example], "+
			"digital_link: [{root: 'https://id.example/', name: n, contact: c, terms: 'https://example.org/'}], "+
			"handles: [{prefix: '20.500.1'}]}",
		`listen: {service: "127.0.0.1:0", admin: ""}`, `dns: {servers: ["127.0.0.1:9"], timeout: 1s}`,
		"cache: {answers: 1MiB, records: 1MiB}",
		"namespaces: [{nid: book, order: [namespace], targets: [{template: 'https://a.example/{+nss}'}]}]"), "\n") +
		"\n"
}

// fillForOpening registers names of all kinds.
func fillForOpening(t *testing.T, server *testserver.Postgres) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "urnd.yaml")
	if err := os.WriteFile(file, []byte(openingSettings(server.URL(""))), 0o600); err != nil {
		t.Fatal(err)
	}
	table := "name,target\n"
	for _, name := range []string{
		"urn:example:a", "urn:example:b", "ark:/12345/x1", "https://purl.example/a",
		"hdl:20.500.1/a", "https://id.example" + item,
	} {
		table += name + ",https://a.example/1\n"
	}
	if r := urndtest.RunWith(t, nil, table, "registry", "import", "--config", file, "-"); r.Status != 0 {
		t.Fatalf("%+v", r)
	}
}

// startOnSockets starts an urnd whose registry hangs, and returns before that is open.
func startOnSockets(t *testing.T, settings ...string) *onSockets {
	t.Helper()
	server := testserver.StartPostgres(t)
	fillForOpening(t, server)
	relay := testserver.StartRelay(t, server.Socket())
	relay.Freeze()
	dir := t.TempDir()
	file, notify := filepath.Join(dir, "urnd.yaml"), filepath.Join(dir, "notify")
	text := openingSettings(server.URLAt(relay.Addr(), "")+"?connect_timeout=60", settings...)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &onSockets{relay: relay, log: filepath.Join(dir, "log")}
	var err error
	if o.manager, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.manager.Close() })
	command := exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, urndtest.Binary(t), "serve", "--config", file)
	command.Env = append(os.Environ(), "LISTEN_FDS=2", "LISTEN_FDNAMES=http:admin", "NOTIFY_SOCKET="+notify)
	for _, address := range []*string{&o.URL, &o.Admin} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		socket, err := listener.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		*address = "http://" + listener.Addr().String()
		command.ExtraFiles = append(command.ExtraFiles, socket)
		defer socket.Close()
		defer listener.Close()
	}
	written, err := os.Create(o.log)
	if err != nil {
		t.Fatal(err)
	}
	defer written.Close()
	if command.Stderr = written; command.Start() != nil {
		t.Fatal("urnd cannot be started")
	}
	o.stop = sync.OnceFunc(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Errorf("urnd ended with %v:\n%s", err, o.logged(t))
		}
	})
	t.Cleanup(o.stop)
	return o
}

// logged returns the log of urnd.
func (w *onSockets) logged(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(w.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ready waits until urnd reports that it is ready.
func (w *onSockets) ready(t *testing.T) {
	t.Helper()
	testserver.Wait(t, "urnd is ready", func() bool { return strings.Contains(w.logged(t), "urnd is ready") })
}

// opens is a request for a name whose response does not depend on the time.
type opens struct{ method, host, target, body string }

func (o opens) String() string { return o.method + " " + o.host + o.target }

// do returns the status and the location of the response.
func (o opens) do(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, o.method, address, strings.NewReader(o.body))
	if err != nil {
		return "", err
	}
	request.URL.Opaque, request.Host = o.target, o.host
	if o.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	transport := http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fails := ""
	if bytes.Contains(body, []byte("not available")) { // a line of a batch
		fails = " not available"
	}
	return fmt.Sprint(response.StatusCode, " ", response.Header.Get("Location"), fails), err
}

// TestRequestsWaitForTheRegistry checks that requests waiting in the sockets at the start of urnd also wait for
// its registry, in all forms of requests for a name, and that other requests do not.
func TestRequestsWaitForTheRegistry(t *testing.T) {
	t.Parallel()
	w := startOnSockets(t)
	all := []opens{
		{target: "/urn:example:a"},
		{target: "/urn:example:b"},
		{target: "/urn:example:a?+x=y"},
		{target: "/?uri=urn:example:a"},
		{target: "/uri-res/N2L?urn:example:a"},
		{target: "/uri-res/N2C?urn:example:a"},
		{target: "/api/v1/resolve?uri=urn:example:a"},
		{method: "POST", target: "/api/v1/resolve", body: `["urn:example:a", "urn:example:b", "ark:/12345/x1"]`},
		{target: "/api/v1/explain?uri=urn:example:a"},
		{target: "/timegate/urn:example:a"},
		{target: "/timemap/urn:example:a"},
		{target: "/urn:example:a?+info"},
		{target: "/ark:/12345/x1"},
		{target: "/ark:/12345/x1?info"},
		{target: "/hdl:20.500.1/a"},
		{target: "/api/handles/20.500.1/a"},
		{host: "purl.example", target: "/a"},
		{host: "id.example", target: item},
		{host: "id.example", target: item + "?linkType=linkset"},
		{method: "HEAD", target: "/urn:example:a"},
	}
	outcomes := make([]string, len(all))
	var asking sync.WaitGroup
	for i := range all {
		if all[i].method == "" {
			all[i].method = "GET"
		}
		asking.Go(func() {
			var err error
			if outcomes[i], err = all[i].do(t.Context(), w.URL); err != nil {
				t.Errorf("%s: %v", all[i], err)
			}
		})
	}
	testserver.Wait(t, "all wait", func() bool { return w.holds(t, len(all)) })
	if got := w.Get(t, "/urn:book:1"); got.Location != "https://a.example/1" {
		t.Errorf("a name that the registry is not asked for: %+v", got)
	}
	for _, method := range []string{"GET", "HEAD"} {
		status, text := w.AdminRequest(t, method+" /readyz")
		if status != http.StatusServiceUnavailable ||
			method == "GET" && !strings.Contains(text, `"opening the registry: `) {
			t.Errorf("%s /readyz: %d\n%s", method, status, text)
		}
	}
	if status, text := w.AdminRequest(t, "GET /healthz"); status != 200 {
		t.Errorf("/healthz: %d %s", status, text)
	}
	if got := w.Scrape(t); !strings.Contains(got, "\nurnd_ready 0\n") ||
		!strings.Contains(got, "\nurnd_registry_available 0\n") {
		t.Error("the metrics say that it is ready")
	}
	if strings.Contains(w.logged(t), "urnd is ready") {
		t.Error("systemd is told that it is ready")
	}
	w.relay.Thaw()
	asking.Wait()
	for i, o := range all {
		if after, err := o.do(t.Context(), w.URL); err != nil || outcomes[i] != after ||
			strings.HasPrefix(after, "5") || strings.HasSuffix(after, "available") {
			t.Errorf("%s: %s, and %s when the registry is open, %v", o, outcomes[i], after, err)
		}
	}
	w.ready(t)
	if status, text := w.AdminRequest(t, "GET /readyz"); status != 200 {
		t.Errorf("/readyz: %d %s", status, text)
	}
}

// holds reports whether at least n requests wait for the registry.
func (w *onSockets) holds(t *testing.T, n int) bool {
	t.Helper()
	var used int
	_, rest, _ := strings.Cut(w.Scrape(t), `urnd_limit_used{limit="opening"} `)
	_, _ = fmt.Sscan(rest, &used)
	return used >= n
}

// TestWaitForTheRegistryIsBounded checks that a disconnected client stops waiting, that requests beyond the
// quota of a client are rejected immediately with Retry-After, and that a shutdown ends the wait.
func TestWaitForTheRegistryIsBounded(t *testing.T) {
	t.Parallel()
	w := startOnSockets(t, "limits: {requests: 8, client_share: 50, drain_time: 0s, shutdown_timeout: 1m}")
	name := opens{method: "GET", target: "/urn:example:a"}
	var conns []*net.TCPConn
	for range 4 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /urn:example:a HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn.(*net.TCPConn))
	}
	testserver.Wait(t, "they wait", func() bool { return w.holds(t, 4) })
	for range 3 {
		response, err := http.Get(w.URL + name.target)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
			t.Errorf("beyond the share: %s, Retry-After %q", response.Status, response.Header.Get("Retry-After"))
		}
	}
	for _, conn := range conns { // a half-closed connection still waits for its response
		if err := errors.Join(conn.SetLinger(0), conn.Close()); err != nil {
			t.Error(err)
		}
	}
	testserver.Wait(t, "nobody waits", func() bool { return !w.holds(t, 1) })
	var waiting sync.WaitGroup
	for range 3 {
		waiting.Go(func() {
			if got, err := name.do(t.Context(), w.URL); err != nil || !strings.HasPrefix(got, "503") {
				t.Errorf("urnd is stopped: %s, %v", got, err)
			}
		})
	}
	testserver.Wait(t, "they wait", func() bool { return w.holds(t, 3) })
	testserver.Within(t, "the stop", func() { w.stop(); waiting.Wait() })
}

// TestWaitForARegistryThatFails checks that a registry that cannot be opened ends the wait.
func TestWaitForARegistryThatFails(t *testing.T) {
	t.Parallel()
	w := startOnSockets(t)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if got := w.Get(t, "/urn:example:a"); got.Status != 503 {
			t.Errorf("%+v", got)
		}
	})
	testserver.Wait(t, "it waits", func() bool { return w.holds(t, 1) })
	w.relay.Cut()
	waiting.Wait()
	w.ready(t)
	notice := make([]byte, 4096)
	_ = w.manager.SetReadDeadline(time.Now().Add(testserver.Timeout))
	n, err := w.manager.Read(notice)
	const want = `^READY=1\nSTATUS=Not ready: the registry is unavailable: .*(connection |EOF).*; \d+ answers cached, \d+ hits of \d+ lookups, \d+ connections$`
	if err != nil || !regexp.MustCompile(want).Match(notice[:n]) {
		t.Errorf("systemd is sent %q, %v", notice[:n], err)
	}
	if status, text := w.AdminRequest(t, "GET /readyz"); status != 503 ||
		!strings.Contains(text, `"the registry is unavailable: `) {
		t.Errorf("/readyz: %d %s", status, text)
	}
	w.relay.Thaw()
	w.relay.Restore()
	testserver.Wait(t, "it is ready",
		func() bool { status, _ := w.AdminRequest(t, "GET /readyz"); return status == 200 })
}
