//go:build e2e

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// script returns the path of a shell script.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(testserver.OpenFolder(t), name)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNegotiateOfSquid checks that users with Kerberos tickets can log in to the proxy with curl, using Squid's
// helper program.
func TestNegotiateOfSquid(t *testing.T) { // not parallel, because it sets environment variables
	program := testserver.Need(t, "/usr/lib/squid/negotiate_kerberos_auth")
	kdc := testserver.StartKDC(t)
	keytab := kdc.Keytab(t, "HTTP/127.0.0.1")
	// urnd passes no environment variables to programs.
	kerberos := script(t, "kerberos",
		fmt.Sprintf("#!/bin/sh\nexport KRB5_CONFIG='%s' KRB5RCACHENAME=none:\nexec %s \"$@\"\n",
			os.Getenv("KRB5_CONFIG"), program))
	web := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Proxy-Authorization"))
	})
	folder := t.TempDir()
	groups, log := filepath.Join(folder, "groups"), filepath.Join(folder, "access.log")
	if err := os.WriteFile(groups, []byte("staff: alice@KERBEROS.TEST\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Log.Access = []config.AccessLog{{Format: "combined", File: log}}
		c.Access.Helpers = []config.Helper{{
			For:     "negotiate",
			Command: []string{kerberos, "-k", keytab, "-s", "GSS_C_NO_NAME"},
		}}
		c.Access.ProxyGroups = groups
		c.Proxy.ConnectPorts = []config.PortRange{{First: 1, Last: 65535}}
		c.Proxy.Rules = []config.ProxyRule{
			{ID: "staff", Action: "allow", Groups: []string{"staff"}},
			{ID: "rest", Action: "deny"},
		}
	})
	url := "http://" + web.addr + "/"
	alice, bob := kdc.LogIn(t, "alice"), kdc.LogIn(t, "bob")
	by := func(name, tickets, want string, arguments ...string) {
		t.Helper()
		arguments = append([]string{
			"-q", "-sS", "--noproxy", "", "--proxy", d.URL, "--proxy-negotiate", "--proxy-user", ":",
			"-w", "%{http_code} %{http_connect} %{num_connects},",
		}, arguments...)
		curl := exec.CommandContext(t.Context(), testserver.Need(t, "curl"), arguments...)
		curl.Env = append(os.Environ(), "KRB5CCNAME="+tickets)
		text, err := curl.Output()
		got := string(text)
		if i := strings.LastIndex(got, "}\n"); i >= 0 { // the error response
			got = got[i+2:]
		}
		if got != want {
			t.Errorf("%s: %q, %v, want %s", name, text, err, want)
		}
	}
	by("two requests", alice, "200 000 1,200 000 0,", url, url)
	by("a tunnel", alice, "200 200 1,200 000 0,", "--proxytunnel", url, url)
	by("asked before", alice, "200 000 1,", "--proxy-anyauth", url)
	by("another user", bob, "403 000 1,", url)
	by("a tunnel of another user", bob, "000 403 1,", "--proxytunnel", url)
	by("no ticket", "FILE:"+filepath.Join(folder, "none"), "407 000 1,", url)
	testserver.Wait(t, "the log names users", func() bool {
		text, err := os.ReadFile(log)
		lines := strings.Count(string(text), " alice@KERBEROS.TEST [") // two requests, a tunnel, and one more
		return err == nil && lines == 4 && strings.Contains(string(text), " bob@KERBEROS.TEST [")
	})
	if _, metrics := d.AdminRequest(t, "GET /metrics"); !strings.Contains(metrics,
		`urnd_helper_questions_total{helper="negotiate"}`) {
		t.Error("the metrics do not count tokens")
	}
	foreign := testserver.StartKDC(t) // a realm of the same name with other keys
	_ = foreign.Keytab(t, "HTTP/127.0.0.1")
	by("a ticket of another KDC", foreign.LogIn(t, "alice"), "407 000 1,", url)
	// NTLM, and an invalid token.
	for _, token := range []string{"TlRMTVNTUAABAAAAB4IIogAAAAAAAAAAAAAAAAAAAAAKAGFKAAAADw==", "YQ=="} {
		if got := status(t, d, url, "Negotiate "+token); got != http.StatusProxyAuthRequired {
			t.Errorf("the token %s: %d", token, got)
		}
	}
}

// status returns the status of a request to the proxy with credentials.
func status(t *testing.T, d *urndtest.Daemon, target, credentials string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Proxy-Authorization", credentials)
	via := &neturl.URL{Scheme: "http", Host: at(d.URL)}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(via), DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// steps is a program that accepts users who respond to its challenge, except for those named in a file.
const steps = `#!/bin/sh
while read -r command token; do
	case $command:$token in
	YR:b25l) if [ -e "$0.closed" ]; then echo "ERR message=closed"; else echo "OK token=YQ== user=alice"; fi ;;
	YR:dHdv) state=1; echo "TT Y2hhbGxlbmdl" ;;
	KK:dGhyZWU=) [ "$state" = 1 ] && echo "AF = carol@A" || echo "NA no state"; state= ;;
	YR:YmFk) echo "BH no keytab" ;;
	*) echo "NA what is this" ;;
	esac
done
`

// TestNegotiateReload checks that a login of several messages keeps its process across a reload, and that
// logged-in users are checked again after it.
func TestNegotiateReload(t *testing.T) {
	t.Parallel()
	program := script(t, "steps", steps)
	web := serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") })
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Access.Helpers = []config.Helper{{For: "negotiate", Command: []string{program}, Processes: 4}}
		c.Proxy.Rules = []config.ProxyRule{
			{ID: "all", Action: "allow", Users: []string{"alice", "carol@A"}},
			{ID: "rest", Action: "deny"},
		}
	})
	ask := func(c net.Conn, in *bufio.Reader, token string) string {
		t.Helper()
		if token != "" {
			token = "Proxy-Authorization: Negotiate " + token + "\r\n"
		}
		if _, err := fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: a\r\n%s\r\n", web.addr, token); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		return strings.Join(append([]string{response.Status[:3]}, response.Header["Proxy-Authenticate"]...), " ")
	}
	dial := func() (net.Conn, *bufio.Reader) {
		c, err := net.Dial("tcp", at(d.URL))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c, bufio.NewReader(c)
	}
	a, fromA := dial()
	b, fromB := dial()
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	expect("one message", ask(a, fromA, "b25l"), "200")
	expect("it is logged in", ask(a, fromA, ""), "200")
	expect("the first of two", ask(b, fromB, "dHdv"), "407 Negotiate Y2hhbGxlbmdl")
	if err := os.WriteFile(program+".closed", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	expect("before the reload", ask(a, fromA, ""), "200")
	d.Reload(t, func(*config.Config) {})
	expect("behind it", ask(a, fromA, ""), "407 Negotiate")
	expect("an account that was closed", ask(a, fromA, "b25l"), "407 Negotiate")
	expect("the second of two", ask(b, fromB, "dGhyZWU="), "200")
	expect("the first of two, again", ask(a, fromA, "dHdv"), "407 Negotiate Y2hhbGxlbmdl")
	d.Reload(t, func(c *config.Config) { c.Access.Helpers[0].Processes = 6 })
	expect("with another pool it begins again", ask(a, fromA, "dGhyZWU="), "407 Negotiate")
	expect("the first", ask(a, fromA, "dHdv"), "407 Negotiate Y2hhbGxlbmdl")
	expect("the second", ask(a, fromA, "dGhyZWU="), "200")
	expect("it says that it is broken", ask(a, fromA, "YmFk"), "407 Negotiate")
	d.WaitForLog(t, "no keytab")
	d.Reload(t, func(c *config.Config) { c.Log.Format = "text" })
	expect("it says so once more", ask(a, fromA, "YmFk"), "407 Negotiate")
	d.WaitForLog(t, `msg="negotiate login refused" helper=negotiate client=127.0.0.1`)
	d.Reload(t, func(c *config.Config) { c.Access.Helpers[0].Command = []string{"/nowhere/program"} })
	for range 8 {
		expect("no program", ask(b, fromB, "b25l"), "503")
	}
	testserver.Wait(t, "/readyz says so", func() bool {
		_, ready := d.AdminRequest(t, "GET /readyz")
		return strings.Contains(ready, "/nowhere/program")
	})
}
