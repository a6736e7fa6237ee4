package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
)

// commandAt runs a command that asks the admin interface at an address.
func commandAt(t *testing.T, at string, args ...string) (out string, status int) {
	t.Helper()
	var text bytes.Buffer
	root := newRoot()
	root.SetArgs(append(args, "--admin", at))
	root.SetOut(&text)
	root.SetErr(&text)
	err := root.ExecuteContext(t.Context())
	if err == nil {
		return text.String(), 0
	}
	if !errors.Is(err, cli.ErrReported) {
		fmt.Fprintln(&text, err)
	}
	return text.String(), cli.StatusOf(err)
}

func TestCachePurge(t *testing.T) {
	var version atomic.Int64
	version.Store(1)
	web, setClock := versionedOrigin(t, &version)
	w := startDaemon(t, udpAndTCP(zone(t, oneRule)).serve(t), 0, openLoopback)
	setClock(w.clock.now)
	a, b, host := "http://"+web.addr+"/a", "http://"+web.addr+"/b", "127.0.0.1"
	const book = "urn:isbn:0-395-36341-1"
	states := func() string {
		return strings.Join([]string{w.proxied(t, "GET", a), w.proxied(t, "GET", b), w.cacheStates(t, "/"+book)}, ", ")
	}
	const hits, none = "hit 200 v1, hit 200 v1, hit", "fwd=uri-miss 200 v1, fwd=uri-miss 200 v1, miss"
	for _, tt := range []struct {
		args, out, after string
	}{
		{a, a + ": 1 response purged\n", "fwd=stale 200 v1, hit 200 v1, hit"},
		{a + " " + book, a + ": 1 response purged\n" + book + ": 1 answer purged\n", "fwd=stale 200 v1, hit 200 v1, miss"},
		{"--hard " + a + " " + b, a + ": 1 response purged\n" + b + ": 1 response purged\n", "fwd=uri-miss 200 v1, fwd=uri-miss 200 v1, hit"},
		{"--refresh " + a, a + ": 1 response fetched again\n", hits},
		{"--prefix http://127.0.0.1", "prefix http://127.0.0.1: 2 responses purged\n", "fwd=stale 200 v1, fwd=stale 200 v1, hit"},
		{"--prefix urn:isbn: --hard", "prefix urn:isbn:: 1 answer purged\n", "hit 200 v1, hit 200 v1, miss"},
		{"--host " + host, "host " + host + ": 2 responses purged\n", "fwd=stale 200 v1, fwd=stale 200 v1, hit"},
		{"--tag b --hard --json", `{"by":"tag","value":"b","of":"responses","purged":1}` + "\n", "hit 200 v1, fwd=uri-miss 200 v1, hit"},
		{"--all --hard", "all: 2 responses purged\nall: 1 answer purged\n", none},
		{"urn:isbn:9780306406157", "urn:isbn:9780306406157: 0 answers purged\n", hits},
	} {
		states()
		if got := states(); got != hits {
			t.Fatalf("before %s: %s", tt.args, got)
		}
		out, status := commandAt(t, w.admin, append([]string{"cache", "purge"}, strings.Fields(tt.args)...)...)
		if out != tt.out || status != 0 {
			t.Errorf("%s: %d %q", tt.args, status, out)
		}
		if got := states(); got != tt.after {
			t.Errorf("%s: %s", tt.args, got)
		}
	}
	for args, part := range map[string]string{
		"": "exactly one", a + " --all": "exactly one", "--host a --tag b": "exactly one", "--tag=": "--tag is empty", "--hard --refresh " + a: "exclude",
		"--refresh " + book: "--refresh is for", "--refresh --all": "--refresh is for", "--refresh --host a": "--refresh is for",
		a + " /b": "begins with a scheme", a + " urn:a": "NID",
		"--everything": "unknown flag", a + " --cert x": "--cert and --key",
	} {
		if out, status := commandAt(t, w.admin, append([]string{"cache", "purge"}, strings.Fields(args)...)...); status != 2 || !strings.Contains(out, part) {
			t.Errorf("%s: %d %q", args, status, out)
		}
	}
	if got := states(); got != hits {
		t.Errorf("after wrong uses: %s", got)
	}
	version.Store(-1)
	out, status := commandAt(t, w.admin, "cache", "purge", "--refresh", a, "http://a.example/")
	if status != 1 || !strings.Contains(out, "answered 502: ") || !strings.HasSuffix(out, "http://a.example/: 0 responses fetched again\n") {
		t.Errorf("one fails: %d %q", status, out)
	}
	if out, status := commandAt(t, w.admin, "cache", "purge", "--host", "a/b"); status != 1 || !strings.Contains(out, "answered 400: ") {
		t.Errorf("what the daemon refuses: %d %q", status, out)
	}
	if out, status := commandAt(t, w.admin, "cache", "purge", "urn:isbn:0395363412"); status != 1 || !strings.Contains(out, "check") {
		t.Errorf("a wrong name: %d %q", status, out)
	}
}

func TestCacheShow(t *testing.T) {
	var version atomic.Int64
	version.Store(1)
	web, setClock := versionedOrigin(t, &version)
	w := startDaemon(t, udpAndTCP(zone(t, oneRule)).serve(t), 0, openLoopback)
	setClock(w.clock.now)
	target := "http://" + web.addr + "/a"
	w.proxied(t, "GET", target, "Accept-Language: en", "Cookie: secret=1")
	w.cacheStates(t, "/urn:isbn:0-395-36341-1", "/urn:none:1")
	w.clock.advance(10 * time.Second)
	for name, want := range map[string]string{
		target + "#x": "200: fresh for 50s, age 10s, 2 bytes, memory\n  for requests with Accept-Language: en\n  for requests with Cookie: (not shown)\n" +
			"  ETag: \"1en\"\n  tags: all, a\n",
		"urn:isbn:9780306406157": "urn:isbn:9780306406157: nothing is cached\n",
		target + "x":             target + "x: nothing is cached\n",
	} {
		if out, status := commandAt(t, w.admin, "cache", "show", name); status != 0 || out != want {
			t.Errorf("%s: %d %q", name, status, out)
		}
	}
	if out, status := commandAt(t, w.admin, "cache", "show", "URN:ISBN:0-395-36341-1"); status != 0 || !strings.HasPrefix(out,
		"urn:isbn:0395363411: fresh for 23h59m50s\n  http") {
		t.Errorf("%d %q", status, out)
	}
	if out, status := commandAt(t, w.admin, "cache", "show", "urn:none:1"); status != 0 || !strings.Contains(out, "\n  no: ") {
		t.Errorf("%d %q", status, out)
	}
	for _, args := range []string{"show --json " + target, "stats --json"} {
		if out, status := commandAt(t, w.admin, append([]string{"cache"}, strings.Fields(args)...)...); status != 0 || !json.Valid([]byte(out)) {
			t.Errorf("%s: %d %q", args, status, out)
		}
	}
	out, status := commandAt(t, w.admin, "cache", "stats")
	if lines := strings.Split(out, "\n"); status != 0 || !strings.HasPrefix(lines[0], "cache      entries  ") || !strings.HasPrefix(lines[1],
		"answers    2 ") || !strings.Contains(out, "\nresponses  1 ") {
		t.Errorf("%d\n%s", status, out)
	}
	for _, args := range []string{"show", "show " + target + " " + target, "show a", "stats a"} {
		if out, status := commandAt(t, w.admin, append([]string{"cache"}, strings.Fields(args)...)...); status != 2 {
			t.Errorf("%s: %d %q", args, status, out)
		}
	}
}

// What gateways retrieve is stored as what origins send is, whether its URL has an authority or not.
func TestCacheOfGateways(t *testing.T) {
	menus := serveLoopback(t, func(conn net.Conn) {
		if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
			fmt.Fprint(conn, "iA menu\tfake\t(NULL)\t0\r\n.\r\n")
		}
	})
	w := startDaemon(t, "127.0.0.1:9", 0, openLoopback)
	for _, name := range []string{"gopher://" + menus + "/1", "prospero://a.example/b", "mailto:a@b.example"} {
		state := func() string {
			response := w.send(t, "GET "+name, "")
			return fmt.Sprintf("%d %s", response.StatusCode, strings.Split(response.Header.Get("Cache-Status")+";", ";")[1])
		}
		prefix, _, _ := strings.Cut(name, ":")
		for _, purge := range []string{name, "--prefix " + prefix + ":", "--refresh " + name} {
			state()
			if got := state(); got != "200  hit" {
				t.Fatalf("%s: %s", name, got)
			}
			if out, status := commandAt(t, w.admin, "cache", "show", name); status != 0 || !strings.HasPrefix(out, "200: fresh for ") {
				t.Errorf("%s: %d %q", name, status, out)
			}
			args := append([]string{"cache", "purge"}, strings.Fields(purge)...)
			if out, status := commandAt(t, w.admin, args...); status != 0 || !strings.Contains(out, ": 1 response ") {
				t.Errorf("%s: %d %q", purge, status, out)
			}
			if got, refreshed := state(), strings.HasPrefix(purge, "--refresh"); (got == "200  hit") != refreshed {
				t.Errorf("after %s: %s", purge, got)
			}
		}
	}
}

// Each scheme that is retrieved has stored responses, and no other.
func TestSchemesOfResponses(t *testing.T) {
	c, d := config.Default(), newDependencies()
	r, err := newResolution(c, d.resolverDependencies)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	var s service
	defer s.close()
	handlers, err := newGateways(&s, c, r, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range append(slices.Collect(maps.Keys(handlers)), "http", "https") {
		if !hasResponses(scheme) {
			t.Errorf("responses for %s are denied", scheme)
		}
	}
	for _, scheme := range []string{"urn", "doi", "", "HTTP"} {
		if hasResponses(scheme) {
			t.Errorf("%s has responses", scheme)
		}
	}
}

// The address of the admin interface and the token are those of the configuration, unless flags name
// others.
func TestCacheFindsAdmin(t *testing.T) {
	token := writeTemp(t, "token", adminToken+"\n")
	socket := filepath.Join(t.TempDir(), "admin.sock")
	for _, admin := range []string{"127.0.0.1:0", "unix:" + socket} {
		w := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) { c.Listen.Admin, c.Access.AdminToken = admin, token })
		at := strings.TrimPrefix(w.admin, "http://")
		if admin != "127.0.0.1:0" {
			at = admin
		}
		file := writeTemp(t, "urnd.yaml", "listen: {admin: '"+at+"'}\naccess: {admin_token: '"+token+"'}\n")
		if out, err := run(t, "", "cache", "stats", "--config", file); err != nil || !strings.Contains(out, "responses") {
			t.Errorf("%s: %v %s", at, err, out)
		}
		if !strings.HasPrefix(at, "unix:") {
			at = w.admin
		}
		if out, status := commandAt(t, at, "cache", "stats", "--token-file", token, "--config", "/nowhere"); status != 0 {
			t.Errorf("%s: %d %s", at, status, out)
		}
		_, port, _ := strings.Cut(strings.TrimPrefix(at, "http://"), ":")
		if admin != "127.0.0.1:0" {
			continue
		}
		if out, status := commandAt(t, at, "cache", "stats"); status != 1 || !strings.Contains(out, "answered 401: ") {
			t.Errorf("without the token: %d %s", status, out)
		}
		if out, status := commandAt(t, "http://localhost:"+port+"/", "cache", "stats", "--token-file", token); status != 0 {
			t.Errorf("by name: %d %s", status, out)
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { redirect(w, "http://192.0.2.1/") }))
	defer other.Close()
	for _, tt := range []struct {
		args, says string
		status     int
	}{
		{"--admin " + other.URL, "answered 302: this is perhaps not an admin interface", 1},
		{"--admin 127.0.0.1:8142", "the address of an admin interface is", 2},
		{"--admin unix:a", "the address of an admin interface is", 2},
		{"--admin ftp://a/", "the address of an admin interface is", 2},
		{"--admin http://u@a/", "the address of an admin interface is", 2},
		{"--admin http://127.0.0.1:1/", "connecting to 127.0.0.1:1", 1},
		{"--admin unix:/nowhere/admin.sock", "connecting to the socket /nowhere/admin.sock", 1},
		{"--admin " + other.URL + " --token-file /nowhere/token", "--token-file: reading the file", 1},
		{"--config " + writeTemp(t, "a.yaml", "listen: {admin: ''}\n"), "listen.admin is empty", 1},
		{"--config " + writeTemp(t, "a.yaml", "access: {admin_token: 'credential:admin'}\n"), "access.admin_token: ", 1},
		{"--config " + writeTemp(t, "a.yaml", "tls: {certificate: /a, key: /a, client_ca: /a}\n"), "client certificate", 2},
		{"--config /nowhere.yaml", "/nowhere.yaml", 1},
	} {
		if out, err := run(t, "", append([]string{"cache", "stats"},
			strings.Fields(tt.args)...)...); err == nil || cli.StatusOf(err) != tt.status || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, %s", tt.args, err, out)
		}
	}
}

// Where tls.client_ca is set, the command shows a certificate.
func TestCacheByCertificate(t *testing.T) {
	ca := newAuthority(t)
	certificate, key := ca.issue(t, "urnd")
	files := newPairFiles(t, certificate, key)
	authorities := newPairFiles(t, ca.pem, nil).certificate
	certificate, key = ca.issue(t, "administrator")
	own := newPairFiles(t, certificate, key)
	l := start(t, "listen: {service: '127.0.0.1:0', admin: '127.0.0.1:0'}",
		"tls: {certificate: '"+files.certificate+"', key: '"+files.key+"', client_ca: '"+authorities+"'}")
	at := "https://" + l.admin
	if out, status := commandAt(t, at, "cache", "stats", "--cert", own.certificate, "--key", own.key, "--ca", authorities); status != 0 {
		t.Errorf("%d %s", status, out)
	}
	for _, args := range []string{
		"--ca " + authorities, "--cert " + own.certificate + " --key " + own.key, "--ca " + own.key,
		"--cert " + own.key + " --key " + own.key,
	} {
		if out, status := commandAt(t, at, append([]string{"cache", "stats"}, strings.Fields(args)...)...); status != 1 {
			t.Errorf("%s: %d %s", args, status, out)
		}
	}
}
