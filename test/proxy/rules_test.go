//go:build e2e

package proxy

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// writeList replaces a list atomically, like its publishers: by renaming another file.
func writeList(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// statusOf returns the status of a GET of a URL through a proxy.
func statusOf(t *testing.T, d *urndtest.Daemon, target string) int {
	t.Helper()
	conn, err := net.Dial("tcp", at(d.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", target)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// TestRulesFromLists checks that a changed list is reloaded, and that a removed or empty one remains in use and
// is reported by /readyz and the metrics.
func TestRulesFromLists(t *testing.T) {
	t.Parallel()
	web := serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") })
	directory := t.TempDir()
	hosts, urls := filepath.Join(directory, "hosts"), filepath.Join(directory, "urls")
	writeList(t, hosts, "# none\n")
	writeList(t, urls, "http://127.0.0.1/private\n")
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Proxy.Rules = []config.ProxyRule{
			{ID: "hosts", Action: "deny", HostsFrom: []string{hosts}},
			{ID: "urls", Action: "deny", URLsFrom: []string{urls}},
			{ID: "paths", Action: "deny", Paths: []string{"*.exe"}},
		}
	})
	page := "http://" + web.addr
	for target, want := range map[string]int{
		"/": 200, "/private": 403, "/private/a?b": 403, "/privates": 200, "/%70rivate": 403, "/a/..%2Fprivate": 403,
		"/a.exe": 403, "/a.exe;b": 403, "/a.exe.html": 200,
	} {
		if got := statusOf(t, d, page+target); got != want {
			t.Errorf("%s: %d, want %d", target, got, want)
		}
	}
	writeList(t, hosts, "127.0.0.1\nads.example\n")
	testserver.Wait(t, "the list was read again", func() bool { return statusOf(t, d, page+"/") == 403 })
	if err := os.Remove(hosts); err != nil {
		t.Fatal(err)
	}
	testserver.Wait(t, "it is said that the list is missing", func() bool {
		_, ready := d.AdminRequest(t, "GET /readyz")
		return strings.Contains(d.Log(), hosts) && strings.Contains(ready, hosts)
	})
	d.Reload(t, func(c *config.Config) { c.Log.Level = slog.LevelDebug })
	if got := statusOf(t, d, page+"/"); got != 403 {
		t.Errorf("without the file, after a reload: %d", got)
	}
	if _, metrics := d.AdminRequest(t, "GET /metrics"); !strings.Contains(metrics,
		`urnd_list_entries{file="`+hosts+`"} 2`) {
		t.Error("the metrics do not have the entries of the list")
	}
	writeList(t, hosts, "ads.example\n# 127.0.0.1 is out\n")
	testserver.Wait(t, "the list is there again", func() bool { return statusOf(t, d, page+"/") == 200 })
}

// TestRulesOfTunnels checks that rules about hosts also apply to the name in the ClientHello, whatever name or
// address CONNECT contains.
func TestRulesOfTunnels(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "body")
	}))
	defer web.Close()
	address := strings.TrimPrefix(web.URL, "https://")
	log := filepath.Join(t.TempDir(), "access.log")
	d := urndtest.Start(t, noDNS, logsTo("json", log, func(c *config.Config) {
		c.Proxy.ConnectPorts = []config.PortRange{{First: 1, Last: 65535}}
		c.Proxy.Rules = []config.ProxyRule{
			{ID: "denied", Action: "deny", Hosts: []string{".denied.example"}},
			{ID: "strange", Action: "deny", Hellos: []string{"unnamed", "none"}},
		}
	}))
	for name, want := range map[string]string{"www.example": "body", "a.denied.example": "", "": ""} {
		conn, err := net.Dial("tcp", at(d.URL))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
		in := bufio.NewReader(conn)
		response, err := http.ReadResponse(in, nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%v, %v", response, err)
		}
		secure := tls.Client(conn, &tls.Config{ServerName: name, InsecureSkipVerify: true})
		got := ""
		if err := secure.Handshake(); err == nil {
			fmt.Fprint(secure, "GET / HTTP/1.0\r\n\r\n")
			text, _ := io.ReadAll(secure)
			_, got, _ = strings.Cut(string(text), "\r\n\r\n")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		conn.Close()
	}
	conn, err := net.Dial("tcp", at(d.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\nSSH-2.0-test\r\n", address, address)
	if text, _ := io.ReadAll(conn); !strings.HasPrefix(string(text), "HTTP/1.1 200 ") ||
		strings.Count(string(text), "\n") != 3 {
		t.Errorf("a client without TLS got %q", text)
	}
	testserver.Wait(t, "the log has the rules", func() bool {
		text, _ := os.ReadFile(log)
		return strings.Contains(string(text), `"rule":"denied","denied":true`) &&
			strings.Count(string(text), `"rule":"strange","denied":true`) == 2 &&
			strings.Count(string(text), `"denied":true`) == 3
	})
}

// TestAccessTestOfConditions checks that the command agrees with the daemon about the time, the group and the
// name in a tunnel.
func TestAccessTestOfConditions(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	users := write("users", "alice:$2y$05$3WrNs1zPPDAZBT5rGyWpNe5yOsbSk.bAsmWC3E2hxOXUP7EkcxmKe\n")
	groups, hosts := write("groups", "staff: alice\n"), write("hosts", "||ads.example^\n")
	file := write("urnd.yaml", `
access: {proxy_clients: [10.0.0.0/8], proxy_users: `+users+`, proxy_groups: `+groups+`}
proxy:
  time_zone: Europe/Berlin
  rules:
    - {id: blocklist, action: deny, hosts_from: [`+hosts+`]}
    - {id: night, action: deny, times: ['22:00-06:00']}
    - {id: staff, action: allow, groups: [staff]}
    - {id: rest, action: deny}
`)
	for _, tt := range []struct{ args, want string }{
		{"10.0.0.1 GET http://www.example/ --user alice --at 2026-12-01T12:00", `allowed by rule "staff"`},
		{"10.0.0.1 GET http://www.example/ --user bob --at 2026-12-01T12:00", `denied by rule "rest"`},
		{"10.0.0.1 GET http://www.example/ --user alice --at 2026-12-01T05:59", `denied by rule "night"`},
		{"10.0.0.1 GET http://a.ads.example/ --user alice --at 2026-12-01T12:00", `denied by rule "blocklist"`},
		{"10.0.0.1 CONNECT www.example:443 --user alice --at 2026-12-01T12:00", `allowed by rule "staff"`},
		{
			"10.0.0.1 CONNECT www.example:443 --user alice --at 2026-12-01T12:00 --server-name a.ads.example",
			`denied by rule "blocklist"`,
		},
		{
			"10.0.0.1 CONNECT www.example:443 --user alice --at noon",
			"--at \"noon\" is not a time such as 2006-01-02T15:04",
		},
	} {
		out, _ := exec.Command(urndtest.Binary(t),
			append([]string{"access", "test", "--config", file}, strings.Fields(tt.args)...)...).CombinedOutput()
		if !strings.Contains(string(out), tt.want) {
			t.Errorf("%s:\n%s\nwant %s", tt.args, out, tt.want)
		}
	}
}
