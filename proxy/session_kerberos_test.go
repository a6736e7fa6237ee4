package proxy_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
)

// gssapi configures Apache to authenticate connections.
const gssapi = `LoadModule authn_core_module /usr/lib/apache2/modules/mod_authn_core.so
LoadModule authz_user_module /usr/lib/apache2/modules/mod_authz_user.so
LoadModule auth_gssapi_module /usr/lib/apache2/modules/mod_auth_gssapi.so
KeepAlive On
KeepAliveTimeout 60
<Location /private>
AuthType GSSAPI
AuthName private
GssapiCredStore keytab:KEYTAB
GssapiConnectionBound On
Require valid-user
Header always set X-User "expr=%{REMOTE_USER}"
Header always set Cache-Control "public, max-age=60"
</Location>`

// keeping returns the address of a relay to a server that leaves its connections open when their clients
// close theirs, and those connections.
func keeping(t *testing.T, to string) (addr string, kept chan conn) {
	t.Helper()
	kept = make(chan conn, 8)
	return listenRaw(t, func(_ *peer, c net.Conn, in *bufio.Reader) {
		server, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { server.Close() })
		var back sync.WaitGroup
		back.Go(func() { _, _ = io.Copy(c, server) })
		_, _ = io.Copy(server, in)
		_ = server.SetReadDeadline(time.Unix(1, 0))
		back.Wait()
		kept <- newConn(server)
	}).addr, kept
}

// curled is the output of curl for the last response.
func curled(t *testing.T, tickets string, arguments ...string) string {
	t.Helper()
	arguments = append([]string{
		"-q", "-sS", "-k", "-o", filepath.Join(t.TempDir(), "body"), "-w",
		"%{http_code} %header{x-user} %header{proxy-support}",
	}, arguments...)
	cmd := exec.CommandContext(t.Context(), testserver.Need(t, "curl"), arguments...)
	cmd.Env = append(os.Environ(), "KRB5CCNAME="+tickets)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("curl %s: %v\n%s", strings.Join(arguments, " "), err, text)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// Apache binds a login to the connection (GssapiConnectionBound): no other client of urnd may share it.
func TestKerberos(t *testing.T) {
	kdc := testserver.StartKDC(t)
	folder := testserver.OpenFolder(t)
	if err := os.MkdirAll(filepath.Join(folder, "private"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "private/a.txt"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	keytab := kdc.Keytab(t, "HTTP/127.0.0.1", "HTTP/www.example")
	o := testserver.StartApache(t, folder, strings.Replace(gssapi, "KEYTAB", keytab, 1))
	alice, bob := kdc.LogIn(t, "alice"), kdc.LogIn(t, "bob")
	const noClient, isAlice, isBob = "401 Session-Based-Authentication", "200 alice@KERBEROS.TEST",
		"200 bob@KERBEROS.TEST"
	for name, tt := range map[string]struct {
		*server
		url   string
		proxy func(addr string) []string
	}{
		"forward": {
			start(t, func(c *proxy.Config) { withCache(t, c) }), "http://" + o.Addr() + "/private/a.txt",
			func(addr string) []string { return []string{"--noproxy", "", "--proxy", addr} },
		},
		"gateway": {
			site(t, []string{o.Addr()}, nil), "http://www.example/private/a.txt",
			func(addr string) []string { return []string{"--connect-to", "www.example:80:" + addr} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			way, kept := keeping(t, tt.addr)
			by := func(addr, tickets string, arguments ...string) string {
				return curled(t, tickets, append(append(tt.proxy(addr), arguments...), tt.url)...)
			}
			for _, log := range []string{"--negotiate", "--anyauth"} { // preemptively, and after a challenge
				if got := by(way, alice, log, "-u", ":"); !strings.HasPrefix(got, isAlice) {
					t.Fatalf("%s: %s", log, got)
				}
				c := <-kept
				for range 2 {
					if got := by(tt.addr, ""); got != noClient {
						t.Errorf("without a login: %s", got)
					}
					if got := by(tt.addr, bob, log, "-u", ":"); !strings.HasPrefix(got, isBob) {
						t.Errorf("another one: %s", got)
					}
					got, response := c.asks(t, tt.url)
					if got != "200 secret" || response.Header.Get("X-User") != "alice@KERBEROS.TEST" {
						t.Errorf("the connection: %s %v", got, response.Header)
					}
				}
			}
		})
	}
	s := startOn(t, certificate(t), withSite(t, []string{o.Addr()}, nil))
	for protocol, want := range map[string]string{"--http2": "403", "--http1.1": isAlice} {
		if got := curled(t, alice, protocol, "--negotiate", "-u", ":", "--connect-to", "www.example:443:"+s.addr,
			"https://www.example/private/a.txt"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", protocol, got)
		}
	}
}
