package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// everyStore returns configuration lines that enable everything urnd opens: files and directories below dir,
// and addresses, where server is the address of all servers.
func everyStore(t *testing.T, dir, server string) []string {
	t.Helper()
	ca := newAuthority(t)
	files := newPairFiles(t, ca.pem, nil)
	certificate, key := ca.issue(t, "urnd")
	pair := newPairFiles(t, certificate, key)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("user:password-of-more-than-16-bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{
		"listen: {service: '127.0.0.1:0', tls: '127.0.0.1:0', admin: 'unix:" + dir + "/admin'}",
		"tls: {certificate: '" + pair.certificate + "', key: '" + pair.key + "', client_ca: '" + files.certificate +
			"'}",
		"dns: {servers: ['" + server + "'], timeout: 1s, rounds: 1}",
		"cache: {answers: 1MiB, records: 1MiB, directory: '" + dir +
			"', responses: 16MiB, max_response: 1MiB, disk: 64MiB, disk_directory: '" + dir + "/disk'}",
		"registry: {store: 'sqlite:" + dir +
			"/names.sqlite', count: true, health_interval: 24h, health_contact: 'mailto:a@example.org'}",
		"log: {format: text, access: [{file: '" + dir + "/access.log'}, {format: squid, syslog: 'udp://" + server +
			"'}]}",
		"access: {admin_token: '" + secret + "', allow_destinations: [127.0.0.0/8]}",
		"news: {servers: ['" + server + "'], login: '" + secret + "'}",
		"slp: {agents: ['" + server + "'], timeout: 1s}", "gateways: {enabled: [ftp, news]}",
		"file: {roots: ['" + dir + "']}",
		"proxy: {upstreams: [{hosts: [a.example], proxies: ['http://" + server + "'], user: u, password: '" + secret +
			"'}], sites: [{hosts: [b.example], servers: ['http://" + server + "']}]}",
		"telemetry: {endpoint: 'http://" + server + "'}",
		"namespaces: [{nid: book, order: [namespace], targets: [{template: 'https://a.example/{+nss}'}]}, {nid: " +
			"paper, thttp: ['http://" + server + "']}]",
	}
}

// opening are system calls that create files, lock, listen or connect. Opening for reading is not among them.
var opening = regexp.MustCompile(`O_CREAT|O_WRONLY|O_RDWR|\b(mkdir\w*|unlink\w*|rename\w*|link\w*|symlink\w*|flock|connect|bind|listen|sendto|sendmsg)\(|F_SETLK`)

// "urnd config check" opens, creates, locks and dials nothing, and lists what it has not checked.
func TestConfigCheckOpensNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	strace := testserver.Need(t, "strace")
	dir, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	server := countConnections(t)
	l := newFileDaemon(t, everyStore(t, dir, server.address)...)
	check := exec.Command(strace, "-f", "-qq", "-o", trace, "-e", "trace=%file,%network,flock,fcntl",
		filepath.Join(build(t), "urnd"), "config", "check", l.file)
	out, err := check.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, part := range []string{
		"is a valid configuration", "not checked: listen: ",
		"not checked: cache.disk_directory: whether urnd can write to " + dir + "/disk",
		"not checked: cache.directory: ",
		"not checked: registry.store: whether urnd can write to " + dir + "/names.sqlite",
		"not checked: log.access.0.file: ", "not checked: file.roots: whether urnd can read " + dir,
		"the servers of these settings respond: dns.servers, slp, proxy.upstreams, proxy.sites, news.servers, " +
			"log.access, telemetry.endpoint, namespaces",
	} {
		if !strings.Contains(string(out), part) {
			t.Errorf("it does not say %q:\n%s", part, out)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it made %v, %v", left, err)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), l.file) {
		t.Errorf("the trace does not show that the configuration was read:\n%.1000s", text)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, "F_GETFL") && opening.MatchString(line) {
			t.Errorf("it called %s", line)
		}
	}
	if n := server.accepted.Load(); n > 0 {
		t.Errorf("%d connections", n)
	}
}

// With every kind of store enabled, the configuration in use is valid while the daemon uses it, and can be
// reloaded.
func TestReloadWithEveryStore(t *testing.T) {
	dir := t.TempDir()
	lines := everyStore(t, dir, countConnections(t).address)
	l := start(t, lines...)
	testserver.Wait(t, "the registry is open",
		func() bool { _, err := os.Stat(filepath.Join(dir, "names.sqlite")); return err == nil })
	for range 3 {
		if out, err := run(t, "", "config", "check", l.file); err != nil || !strings.Contains(out, "valid") {
			t.Errorf("%s, %v", out, err)
		}
		if !l.reload(t) {
			t.Fatal("the reload is refused")
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "disk")); err != nil {
		t.Error(err)
	}
}

// The same with a registry in PostgreSQL, to which "urnd config check" does not connect.
func TestReloadWithPostgres(t *testing.T) {
	server := testserver.StartPostgres(t)
	server.Query("", "CREATE DATABASE names")
	l := start(t, "listen: {service: '127.0.0.1:0', admin: '127.0.0.1:0'}",
		"registry: {store: '"+server.URL("names")+"'}")
	admin := testService{url: "http://" + l.admin}
	testserver.Wait(t, "the registry is open",
		func() bool { return !strings.Contains(admin.get(t, "/readyz").body, "registry") })
	for range 2 {
		out, err := run(t, "", "config", "check", l.file)
		if err != nil ||
			!strings.Contains(out, "whether the servers of these settings respond: dns.servers, registry.store") {
			t.Errorf("%s, %v", out, err)
		}
		if !l.reload(t) || strings.Contains(admin.get(t, "/readyz").body, "registry") {
			t.Error("the reload is refused, or the registry cannot be asked after it")
		}
	}
}

// As with the package: the directories and credentials are those of the service, which a shell does not have.
func TestConfigCheckWithoutTheService(t *testing.T) {
	t.Setenv("STATE_DIRECTORY", "")
	t.Setenv("CACHE_DIRECTORY", "")
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	l := newFileDaemon(t, "cache: {responses: 16MiB, max_response: 1MiB, disk: 64MiB}",
		"proxy: {upstreams: [{proxies: ['http://127.0.0.1:9'], user: u, password: 'credential:upstream-password'}]}",
		"access: {admin_token: 'credential:admin-token', proxy_users: 'credential:proxy-users'}",
		"news: {login: 'credential:news-login'}",
		"registry: {store: 'postgres://u@127.0.0.1:9/names', password: 'credential:registry-password', "+
			"hosts: [a.example]}",
		"tls: {certificate: 'credential:certificate', key: 'credential:key', client_ca: 'credential:client-ca'}",
		"acme: {enabled: true, contact: me@a.example}", "log: {format: journald}")
	out, err := run(t, "", "config", "check", l.file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"not checked: cache.disk_directory: not set, and", "not checked: acme.enabled: cache.directory is not set, and",
		"not checked: proxy.upstreams.0.password: credential:upstream-password", "not checked: access.admin_token: ",
		"not checked: access.proxy_users: ", "not checked: news.login: ", "not checked: registry.password: ",
		"not checked: tls.certificate: ", "not checked: tls.key: ", "not checked: tls.client_ca: ",
		"not checked: log.format: ", "registry.store",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("it does not say %q:\n%s", part, out)
		}
	}
}

// Errors that are detected without opening anything are still reported.
func TestConfigCheckRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, message := range map[string]string{
		"log: {access: [{file: " + dir +
			"/none/access.log}]}": "log.access.0.file: ",
		"log: {access: [{format: 'apache:%h %O'}]}":                                               "log.access.0.format: urnd does not support %O: write %B",
		"cache: {responses: 16MiB, max_response: 1MiB, disk: 1GiB, disk_directory: " + file + "}": "is not a directory",
		"access: {admin_token: " + file +
			"}": "access.admin_token: the token is shorter",
		"news: {login: " + file +
			"}": "news.login: the file must contain the",
		"tls: {certificate: " + file + ", key: " + file +
			"}": "tls.certificate and tls.key: ",
		"proxy: {upstreams: [{proxies: ['http://a:1'], user: u, password: " + dir +
			"/none}]}": "proxy.upstreams.0.password: ",
	} {
		if _, err := run(t, "", "config", "check", newFileDaemon(t, line).file); err == nil ||
			!strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A directory that only the service may read, as created by systemd, is not checked, and is no error.
func TestConfigCheckOfAnotherUser(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	if os.Getuid() != 0 {
		t.Skip("it takes root to become another user")
	}
	const noClient = 65534
	dir, err := os.MkdirTemp("", "urnd-private")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	private, file, binary := filepath.Join(dir, "private"), filepath.Join(dir, "urnd.yaml"), filepath.Join(dir, "urnd")
	text := fmt.Sprintf("log: {access: [{file: %s/urnd/access.log}]}\ncache: {disk: 1GiB, disk_directory: "+
		"%[1]s/urnd}\n", private)
	err = errors.Join(os.Chmod(dir, 0o755), os.MkdirAll(filepath.Join(private, "urnd"), 0o700),
		os.WriteFile(file, []byte(text), 0o644))
	program, readErr := os.ReadFile(filepath.Join(build(t), "urnd"))
	if err = errors.Join(err, readErr, os.WriteFile(binary, program, 0o755)); err != nil {
		t.Fatal(err)
	}
	check := exec.Command(binary, "config", "check", file)
	check.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: noClient, Gid: noClient}}
	out, err := check.CombinedOutput()
	if err != nil || !strings.Contains(string(out),
		"not checked: log.access.0.file: whether urnd can write to "+private) {
		t.Errorf("%v: %s", err, out)
	}
}

// countedConnections is a TCP server that closes all connections.
type countedConnections struct {
	address  string
	accepted atomic.Int32
}

func countConnections(t *testing.T) *countedConnections {
	t.Helper()
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	c := &countedConnections{address: listener.Addr().String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.accepted.Add(1)
			conn.Close()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	return c
}
