//go:build e2e

package machines

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestCertificateAuthoritiesAreReadAgain checks that SIGHUP reloads a changed file of client_ca.
func TestCertificateAuthoritiesAreReadAgain(t *testing.T) {
	t.Parallel()
	ca, other := testserver.NewAuthority(t), testserver.NewAuthority(t)
	files := newPair(t, ca, "127.0.0.1")
	listen := "listen: {service: '127.0.0.1:0', admin: '127.0.0.1:0'}"
	p, err := tls.X509KeyPair(ca.Issue(time.Hour, "administrator"))
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(ca.PEM)
	known := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{p}},
	}}
	l := start(t, listen, "tls: {certificate: '"+files.certificate+"', key: '"+files.key+"', client_ca: '"+ca.File+"'}")
	ask := func() (status int, err error) {
		response, err := known.Get("https://" + l.admin + "/healthz")
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	if status, err := ask(); status != http.StatusOK || err != nil {
		t.Error(status, err)
	}
	if err := os.WriteFile(ca.File, other.PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	l.reload(t)
	if status, err := ask(); err == nil {
		t.Errorf("after its authority was removed: %d", status)
	}
}

// TestReloadOffAndOn disables and enables listen.admin during a request to it.
func TestReloadOffAndOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "admin")
	for _, admin := range []string{freeAddress(t), "unix:" + path} {
		t.Run(admin, func(t *testing.T) {
			t.Parallel()
			l := start(t, "listen: {service: '127.0.0.1:0', admin: '"+admin+"'}")
			before := l.descriptors(t)
			network, address := "tcp", admin
			if p, ok := strings.CutPrefix(admin, "unix:"); ok {
				network, address = "unix", p
			}
			conn, err := net.Dial(network, address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			io.WriteString(conn, "GET /healthz HTT")
			l.write(t)
			if !l.reload(t) {
				t.Error("off is refused")
			}
			if c, err := net.Dial(network, address); err == nil {
				t.Error("an address that is turned off takes connections")
				c.Close()
			}
			l.write(t, "listen: {service: '127.0.0.1:0', admin: '"+admin+"'}")
			if !l.reload(t) {
				t.Fatal("on is refused")
			}
			io.WriteString(conn, "P/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
			io.Copy(io.Discard, conn)
			conn.Close()
			testserver.Wait(t, "the old listener is closed", func() bool { return l.descriptors(t) == before })
			c, err := net.Dial(network, address)
			if err != nil {
				t.Fatal("the new listener is gone: ", err)
			}
			c.Close()
			if network == "unix" {
				if _, err := os.Stat(address); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestReloadFreesAddress checks that a reload frees a removed address immediately, although a request is still
// running there.
func TestReloadFreesAddress(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}), make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-release
	}))
	t.Cleanup(origin.Close)
	defer close(release)
	first, second := freeAddress(t), freeAddress(t)
	l := start(t, "listen: {service: '"+first+"', admin: ''}")
	proxied := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: first}), DisableKeepAlives: true}
	go (&http.Client{Transport: proxied}).Get(origin.URL)
	<-began
	l.write(t, "listen: {service: '"+second+"', admin: ''}")
	l.reload(t)
	if c, err := net.Dial("tcp", first); err == nil {
		c.Close()
		t.Error("the old address still accepts connections")
	}
	l.write(t, "listen: {service: '"+first+"', admin: ''}")
	if !l.reload(t) {
		t.Error("a reload with the first address is refused")
	}
}

// TestReloadWatchesFromTheStart checks that a change between the first load and READY=1 is detected.
func TestReloadWatchesFromTheStart(t *testing.T) {
	t.Parallel()
	requested, answer := make(chan struct{}), make(chan struct{})
	server := "dns: {servers: ['" + urndtest.UDPAndTCP(func(w dns.ResponseWriter, q *dns.Msg) {
		close(requested)
		<-answer
		urndtest.AnswerRcode(3)(w, q)
	}).Serve(t) + "'], timeout: 20s}"
	l := newFileDaemon(t, server, "reload: {watch: true}")
	l.serve(t)
	<-requested
	l.write(t, server, "reload: {watch: true}", "namespaces: "+bookNamespace("b"))
	close(answer)
	l.ready(t)
	testserver.Wait(t, "the change is in force", func() bool { return l.logged("configuration reloaded") == 1 })
}

// TestReloadMemoryLimit checks that the memory limit in the environment applies, also after a reload.
func TestReloadMemoryLimit(t *testing.T) {
	t.Parallel()
	l := newFileDaemon(t, "listen: {service: '127.0.0.1:0', admin: '127.0.0.1:0'}")
	l.serve(t, "GOMEMLIMIT=1TiB")
	l.ready(t)
	for range 2 {
		const message = "\ngo_gc_gomemlimit_bytes 1.099511627776e+12\n"
		if text := urndtest.Send(t, "GET http://"+l.admin+"/metrics", "").Body; !strings.Contains(text, message) {
			t.Errorf("GOMEMLIMIT is undone: %s", text)
		}
		l.reload(t)
	}
}

func TestNotifyKeepsRefusal(t *testing.T) {
	t.Parallel()
	m := listenNotify(t)
	l := newFileDaemon(t)
	l.serve(t, m.variable(), "WATCHDOG_USEC=60000")
	l.ready(t)
	l.write(t, "dns: {timout: 1s}")
	l.hangup()
	next := func(prefix string) (notice string) {
		testserver.Wait(t, "systemd is sent "+prefix, func() bool {
			notice = m.receive(time.Second)
			return strings.HasPrefix(notice, prefix)
		})
		return notice
	}
	next("RELOADING=1")
	next("READY=1\nSTATUS=Reload failed: ")
	for range 2 {
		if notice := next("STATUS="); !strings.HasPrefix(notice, "STATUS=Reload failed: ") {
			t.Fatalf("the refusal is gone: %q", notice)
		}
	}
}

// TestActivationByUnixSocket tests HTTP over a Unix socket opened by systemd.
func TestActivationByUnixSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "http")
	a, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l := newFileDaemon(t)
	defer a.Close()
	socket, err := a.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	l.serveOn(t, socket, "http")
	l.ready(t)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET /urn:book:1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	text, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(text), "HTTP/1.1 302 ") {
		t.Errorf("%.60s", text)
	}
}

// TestSeveralAddresses checks that the service can have several addresses, and that the error for one in use is
// explained.
func TestSeveralAddresses(t *testing.T) {
	t.Parallel()
	first, second := freeAddress(t), freeAddress(t)
	l := start(t, "listen: {service: ['"+first+"', '"+second+"'], admin: '127.0.0.1:0'}")
	for _, address := range []string{first, second} {
		if got := urndtest.Send(t, "GET http://"+address+"/urn:ietf:rfc:1", ""); got.Status != http.StatusFound {
			t.Errorf("%s: %+v", address, got)
		}
	}
	if n := l.logged("http://" + first + "/ http://" + second + "/"); n != 1 {
		t.Errorf("the URLs are logged %d times", n)
	}
	other := newFileDaemon(t, "listen: {service: '"+first+"', admin: ''}")
	_, err := urndtest.Run(t, "", "serve", "--config", other.file)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(string(exit.Stderr), ": listen.service: listening for http: ") ||
		!strings.Contains(string(exit.Stderr), "another process, perhaps another instance") {
		t.Errorf("%+v", err)
	}
}

// TestReloadSaysWhatChanged checks that a reload reports the changes.
func TestReloadSaysWhatChanged(t *testing.T) {
	t.Parallel()
	l := start(t, "listen: {service: '127.0.0.1:0', admin: '127.0.0.1:0'}", "dns: {timeout: 1s}")
	l.write(t, "listen: {service: '127.0.0.1:0', admin: '127.0.0.1:0'}", "dns: {timeout: 3s}")
	l.reload(t)
	if n := l.logged("dns.timeout: 1s -> 3s"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}
