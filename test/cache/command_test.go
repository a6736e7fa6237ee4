//go:build e2e

package cache

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// command runs a command of urnd, and returns its output, errors first, and its exit status.
func command(t *testing.T, args ...string) (out string, status int) {
	t.Helper()
	out, err := urndtest.Run(t, "", args...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr) + out, exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, 0
}

// commandAt runs a command with the admin interface at an address.
func commandAt(t *testing.T, at string, args ...string) (out string, status int) {
	t.Helper()
	return command(t, append(args, "--admin", at)...)
}

// writeFile writes a file and returns its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// serveMenus starts a gopher server with one menu.
func serveMenus(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
					fmt.Fprint(conn, "iA menu\tfake\t(NULL)\t0\r\n.\r\n")
				}
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	return listener.Addr().String()
}

func TestCachePurge(t *testing.T) {
	t.Parallel()
	web := serveVersions(t)
	w := urndtest.Start(t, urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule)).Serve(t), urndtest.OpenLoopback)
	a, b, host := "http://"+web.Addr+"/a", "http://"+web.Addr+"/b", "127.0.0.1"
	const book = "urn:isbn:0-395-36341-1"
	states := func() string {
		return strings.Join([]string{proxied(t, w, "GET", a), proxied(t, w, "GET", b), w.CacheStates(t, "/"+book)},
			", ")
	}
	const hits, none = "hit 200 v1, hit 200 v1, hit", "fwd=uri-miss 200 v1, fwd=uri-miss 200 v1, miss"
	for _, tt := range []struct {
		args, out, after string
	}{
		{a, a + ": 1 response purged\n", "fwd=stale 200 v1, hit 200 v1, hit"},
		{
			a + " " + book, a + ": 1 response purged\n" + book + ": 1 answer purged\n",
			"fwd=stale 200 v1, hit 200 v1, miss",
		},
		{
			"--hard " + a + " " + b, a + ": 1 response purged\n" + b + ": 1 response purged\n",
			"fwd=uri-miss 200 v1, fwd=uri-miss 200 v1, hit",
		},
		{"--refresh " + a, a + ": 1 response fetched again\n", hits},
		{
			"--prefix http://127.0.0.1", "prefix http://127.0.0.1: 2 responses purged\n",
			"fwd=stale 200 v1, fwd=stale 200 v1, hit",
		},
		{"--prefix urn:isbn: --hard", "prefix urn:isbn:: 1 answer purged\n", "hit 200 v1, hit 200 v1, miss"},
		{"--host " + host, "host " + host + ": 2 responses purged\n", "fwd=stale 200 v1, fwd=stale 200 v1, hit"},
		{
			"--tag b --hard --output json", `{"by":"tag","value":"b","of":"responses","purged":1}` + "\n",
			"hit 200 v1, fwd=uri-miss 200 v1, hit",
		},
		{"--all --hard", "all: 2 responses purged\nall: 1 answer purged\n", none},
		{"urn:isbn:9780306406157", "urn:isbn:9780306406157: 0 answers purged\n", hits},
	} {
		states()
		if got := states(); got != hits {
			t.Fatalf("before %s: %s", tt.args, got)
		}
		out, status := commandAt(t, w.Admin, append([]string{"cache", "purge"}, strings.Fields(tt.args)...)...)
		if out != tt.out || status != 0 {
			t.Errorf("%s: %d %q", tt.args, status, out)
		}
		if got := states(); got != tt.after {
			t.Errorf("%s: %s", tt.args, got)
		}
	}
	for args, part := range map[string]string{
		"": "exactly one", a + " --all": "exactly one", "--host a --tag b": "exactly one", "--tag=": "--tag is empty",
		"--hard --refresh " + a: "mutually exclusive", "--refresh " + book: "--refresh requires",
		"--refresh --all": "--refresh requires", "--refresh --host a": "--refresh requires",
		a + " /b": "begins with a scheme", a + " urn:a": "NID", "--everything": "unknown flag",
		a + " --cert x": "--cert and --key",
	} {
		if out, status := commandAt(t, w.Admin,
			append([]string{"cache", "purge"}, strings.Fields(args)...)...); status != 2 ||
			!strings.Contains(out, part) {
			t.Errorf("%s: %d %q", args, status, out)
		}
	}
	if got := states(); got != hits {
		t.Errorf("after wrong uses: %s", got)
	}
	web.version.Store(-1)
	out, status := commandAt(t, w.Admin, "cache", "purge", "--refresh", a, "http://a.example/")
	if status != 1 || !strings.Contains(out, "responded with status 502: ") ||
		!strings.HasSuffix(out, "http://a.example/: 0 responses fetched again\n") {
		t.Errorf("one fails: %d %q", status, out)
	}
	if out, status := commandAt(t, w.Admin, "cache", "purge", "--host", "a/b"); status != 1 ||
		!strings.Contains(out, "responded with status 400: ") {
		t.Errorf("what the daemon refuses: %d %q", status, out)
	}
	if out, status := commandAt(t, w.Admin, "cache", "purge", "urn:isbn:0395363412"); status != 1 ||
		!strings.Contains(out, "check") {
		t.Errorf("a wrong name: %d %q", status, out)
	}
}

func TestCacheShow(t *testing.T) {
	t.Parallel()
	web := serveVersions(t)
	w := urndtest.Start(t, urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule)).Serve(t), urndtest.OpenLoopback)
	target := "http://" + web.Addr + "/a"
	web.age.Store(10)
	proxied(t, w, "GET", target, "Accept-Language: en", "Cookie: secret=1")
	w.CacheStates(t, "/urn:isbn:0-395-36341-1", "/urn:none:1")
	for name, want := range map[string]string{
		target + "#x": `200: fresh for 59m\d+s, age [1-5]\ds, 2 bytes, memory\n` +
			regexp.QuoteMeta("  for requests with Accept-Language: en\n"+
				"  for requests with Cookie: (not shown)\n  ETag: \"1en\"\n  tags: all, a\n"),
		"urn:isbn:9780306406157": "urn:isbn:9780306406157: nothing is cached\n",
		target + "x":             regexp.QuoteMeta(target) + "x: nothing is cached\n",
	} {
		if out, status := commandAt(t, w.Admin, "cache", "show", name); status != 0 ||
			!regexp.MustCompile("^"+want+"$").MatchString(out) {
			t.Errorf("%s: %d %q", name, status, out)
		}
	}
	if out, status := commandAt(t, w.Admin, "cache", "show", "URN:ISBN:0-395-36341-1"); status != 0 ||
		!regexp.MustCompile(`^urn:isbn:0395363411: fresh for (24h|23h59m\d+s)\S*\n  http`).MatchString(out) {
		t.Errorf("%d %q", status, out)
	}
	if out, status := commandAt(t, w.Admin, "cache", "show", "urn:none:1"); status != 0 ||
		!strings.Contains(out, "\n  no: ") {
		t.Errorf("%d %q", status, out)
	}
	for _, args := range []string{"show --output json " + target, "stats --output json"} {
		if out, status := commandAt(t, w.Admin, append([]string{"cache"}, strings.Fields(args)...)...); status != 0 ||
			!json.Valid([]byte(out)) {
			t.Errorf("%s: %d %q", args, status, out)
		}
	}
	out, status := commandAt(t, w.Admin, "cache", "stats")
	if lines := strings.Split(out, "\n"); status != 0 || !strings.HasPrefix(lines[0], "cache      entries  ") ||
		!strings.HasPrefix(lines[1],
			"answers    2 ") || !strings.Contains(out, "\nresponses  1 ") {
		t.Errorf("%d\n%s", status, out)
	}
	for _, args := range []string{"show", "show " + target + " " + target, "show a", "stats a"} {
		if out, status := commandAt(t, w.Admin, append([]string{"cache"}, strings.Fields(args)...)...); status != 2 {
			t.Errorf("%s: %d %q", args, status, out)
		}
	}
}

// TestCacheOfGateways checks that responses of gateways are cached like those of origins, with and without an
// authority in the URL.
func TestCacheOfGateways(t *testing.T) {
	t.Parallel()
	menus := serveMenus(t)
	w := urndtest.Start(t, "127.0.0.1:9", urndtest.OpenLoopback)
	for _, name := range []string{"gopher://" + menus + "/1", "prospero://a.example/b", "mailto:a@b.example"} {
		state := func() string {
			got := w.Exchange(t, "GET "+name)
			return fmt.Sprintf("%d %s", got.Status, strings.Split(got.CacheStatus+";", ";")[1])
		}
		prefix, _, _ := strings.Cut(name, ":")
		for _, purge := range []string{name, "--prefix " + prefix + ":", "--refresh " + name} {
			state()
			if got := state(); got != "200  hit" {
				t.Fatalf("%s: %s", name, got)
			}
			if out, status := commandAt(t, w.Admin, "cache", "show", name); status != 0 ||
				!strings.HasPrefix(out, "200: fresh for ") {
				t.Errorf("%s: %d %q", name, status, out)
			}
			args := append([]string{"cache", "purge"}, strings.Fields(purge)...)
			if out, status := commandAt(t, w.Admin, args...); status != 0 || !strings.Contains(out, ": 1 response ") {
				t.Errorf("%s: %d %q", purge, status, out)
			}
			if got, refreshed := state(), strings.HasPrefix(purge, "--refresh"); (got == "200  hit") != refreshed {
				t.Errorf("after %s: %s", purge, got)
			}
		}
	}
}

// TestCacheFindsAdmin checks that the address of the admin interface and the token come from the configuration,
// unless flags override them.
func TestCacheFindsAdmin(t *testing.T) {
	t.Parallel()
	token := writeFile(t, "token", "topsecret-0123456789\n")
	socket := filepath.Join(t.TempDir(), "admin.sock")
	for _, admin := range []string{"127.0.0.1:0", "unix:" + socket} {
		w := urndtest.Start(t, "127.0.0.1:9",
			func(c *config.Config) { c.Listen.Admin, c.Access.AdminToken = admin, token })
		at := strings.TrimPrefix(w.Admin, "http://")
		if admin != "127.0.0.1:0" {
			at = admin
		}
		file := writeFile(t, "urnd.yaml", "listen: {admin: '"+at+"'}\naccess: {admin_token: '"+token+"'}\n")
		if out, status := command(t, "cache", "stats", "--config", file); status != 0 ||
			!strings.Contains(out, "responses") {
			t.Errorf("%s: %d %s", at, status, out)
		}
		if !strings.HasPrefix(at, "unix:") {
			at = w.Admin
		}
		if out, status := commandAt(t, at, "cache", "stats", "--token-file", token, "--config",
			"/nowhere"); status != 0 {
			t.Errorf("%s: %d %s", at, status, out)
		}
		_, port, _ := strings.Cut(strings.TrimPrefix(at, "http://"), ":")
		if admin != "127.0.0.1:0" {
			continue
		}
		if out, status := commandAt(t, at, "cache", "stats"); status != 1 ||
			!strings.Contains(out, "responded with status 401: ") {
			t.Errorf("without the token: %d %s", status, out)
		}
		if out, status := commandAt(t, "http://localhost:"+port+"/", "cache", "stats", "--token-file",
			token); status != 0 {
			t.Errorf("by name: %d %s", status, out)
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
	}))
	defer other.Close()
	for _, tt := range []struct {
		args, message string
		status        int
	}{
		{"--admin " + other.URL, "responded with status 302: check that this is an admin interface of urnd", 1},
		{"--admin 127.0.0.1:1", "connecting to 127.0.0.1:1", 1},
		{"--admin unix:a", "the address of an admin interface is", 2},
		{"--admin ftp://a/", "the address of an admin interface is", 2},
		{"--admin http://u@a/", "the address of an admin interface is", 2},
		{"--admin http://127.0.0.1:1/", "connecting to 127.0.0.1:1", 1},
		{"--admin unix:/nowhere/admin.sock", "connecting to the socket /nowhere/admin.sock", 1},
		{"--admin " + other.URL + " --token-file /nowhere/token", "--token-file: reading the file", 1},
		{"--config " + writeFile(t, "a.yaml", "listen: {admin: ''}\n"), "listen.admin is empty", 1},
		{
			"--config " + writeFile(t, "a.yaml", "access: {admin_token: 'credential:admin'}\n"),
			"access.admin_token: ", 1,
		},
		{
			"--config " + writeFile(t, "a.yaml", "tls: {certificate: /a, key: /a, client_ca: /a}\n"),
			"client certificate", 2,
		},
		{"--config /nowhere.yaml", "/nowhere.yaml", 1},
	} {
		if out, status := command(t,
			append([]string{"cache", "stats"}, strings.Fields(tt.args)...)...); status != tt.status ||
			!strings.Contains(out, tt.message) {
			t.Errorf("%s: %d, %s", tt.args, status, out)
		}
	}
}

// TestCacheByCertificate checks that the command presents a client certificate if tls.client_ca is set.
func TestCacheByCertificate(t *testing.T) {
	t.Parallel()
	ca := testserver.NewAuthority(t)
	certificate, key := writePair(t, ca)
	own, ownKey := writePair(t, ca)
	w := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
		c.TLS.Certificate, c.TLS.Key, c.TLS.ClientCA = certificate, key, ca.File
	})
	at := "https://" + strings.TrimPrefix(w.Admin, "http://")
	if out, status := commandAt(t, at, "cache", "stats", "--cert", own, "--key", ownKey, "--ca", ca.File); status != 0 {
		t.Errorf("%d %s", status, out)
	}
	for _, args := range []string{
		"--ca " + ca.File, "--cert " + own + " --key " + ownKey, "--ca " + ownKey,
		"--cert " + ownKey + " --key " + ownKey,
	} {
		if out, status := commandAt(t, at,
			append([]string{"cache", "stats"}, strings.Fields(args)...)...); status != 1 {
			t.Errorf("%s: %d %s", args, status, out)
		}
	}
}

// writePair writes a certificate for loopback and its key.
func writePair(t *testing.T, ca *testserver.Authority) (certificate, key string) {
	t.Helper()
	text, secret := ca.Issue(time.Hour, "127.0.0.1")
	return writeFile(t, "certificate.pem", string(text)), writeFile(t, "key.pem", string(secret))
}
