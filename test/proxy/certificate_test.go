//go:build e2e

package proxy

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

func TestCertificate(t *testing.T) {
	t.Parallel()
	ca := urndtest.NewAuthority(t)
	certificate, key := ca.Issue(t, "first")
	files := urndtest.NewPairFiles(t, certificate, key)
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		files.Listen(c, "127.0.0.1:0")
		c.Namespaces = []config.Namespace{book("a")}
	})
	url := "https://" + d.TLS + "/urn:book:1"
	for _, tt := range []struct {
		name   string
		config *tls.Config
		want   string
	}{
		{"HTTP/2", &tls.Config{}, "302 HTTP/2.0 first"},
		{"TLS 1.2", &tls.Config{MaxVersion: tls.VersionTLS12}, "302 HTTP/2.0 first"},
		{"HTTP/1.1", &tls.Config{NextProtos: []string{"http/1.1"}}, "302 HTTP/1.1 first"},
		{
			"TLS 1.1", &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
			"protocol version not supported",
		},
	} {
		client := ca.Client(tt.config)
		if tt.name == "HTTP/1.1" {
			client.Transport.(*http.Transport).ForceAttemptHTTP2 = false
		}
		if got := urndtest.GetOverTLS(client, url); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	next, nextKey := ca.Issue(t, "second")
	urndtest.WriteLater(t, files.Certificate, next)
	urndtest.WriteLater(t, files.Key, nextKey)
	client := ca.Client(&tls.Config{})
	testserver.Wait(t, "the certificate is replaced",
		func() bool { return urndtest.GetOverTLS(client, url) == "302 HTTP/2.0 second" })
	urndtest.WriteLater(t, files.Key, key)
	if reload(t, d, keep) {
		t.Error("a reload is not refused while the files of the certificate are half written")
	}
	if got := urndtest.GetOverTLS(client, url); got != "302 HTTP/2.0 second" {
		t.Error(got)
	}
	if d.Get(t, "/urn:book:1").Status != http.StatusFound {
		t.Error("no answer without TLS")
	}
}

// TestListenHTTP2 checks that listen.http2 determines the protocols offered to new connections, also after a
// reload.
func TestListenHTTP2(t *testing.T) {
	t.Parallel()
	ca := urndtest.NewAuthority(t)
	certificate, key := ca.Issue(t, "urnd")
	files := urndtest.NewPairFiles(t, certificate, key)
	address := urndtest.FreeAddress(t)
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		files.Listen(c, address)
		c.Listen.HTTP2, c.Namespaces = false, []config.Namespace{book("a")}
	})
	url := "https://" + address + "/urn:book:1"
	if got := urndtest.GetOverTLS(ca.Client(&tls.Config{}), url); got != "302 HTTP/1.1 urnd" {
		t.Error(got)
	}
	if !reload(t, d, func(c *config.Config) { c.Listen.HTTP2 = true }) {
		t.Fatal("the reload is refused")
	}
	// The previous server may accept one more connection while it ends.
	testserver.Wait(t, "HTTP/2 is offered",
		func() bool { return urndtest.GetOverTLS(ca.Client(&tls.Config{}), url) == "302 HTTP/2.0 urnd" })
}

func TestCertificateOfAdministrators(t *testing.T) {
	t.Parallel()
	ca, other := urndtest.NewAuthority(t), urndtest.NewAuthority(t)
	certificate, key := ca.Issue(t, "urnd")
	files := urndtest.NewPairFiles(t, certificate, key)
	authorities := urndtest.NewPairFiles(t, ca.PEM, nil).Certificate
	pair := func(certificate, key []byte) tls.Certificate {
		p, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	known := ca.Client(&tls.Config{Certificates: []tls.Certificate{pair(ca.Issue(t, "administrator"))}})
	unknown := ca.Client(&tls.Config{Certificates: []tls.Certificate{pair(other.Issue(t, "administrator"))}})
	anonymous := ca.Client(&tls.Config{})
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		files.Listen(c, "127.0.0.1:0")
		c.Listen.Admin, c.Namespaces = urndtest.FreeAddress(t), []config.Namespace{book("a")}
	})
	socket := socketAt(t, at(d.Admin))
	if status, body := d.AdminRequest(t, "GET /healthz"); status != http.StatusOK {
		t.Errorf("without client_ca: %d %s", status, body)
	}
	if !reload(t, d, func(c *config.Config) { c.TLS.ClientCA = authorities }) || socketAt(t, at(d.Admin)) != socket {
		t.Error("not reloaded, or another socket")
	}
	admin, service := "https://"+at(d.Admin)+"/healthz", "https://"+d.TLS+"/urn:book:1"
	for _, tt := range []struct {
		name   string
		client *http.Client
		url    string
		want   string // "" if there is no response
	}{
		{"an administrator", known, admin, "200 HTTP/1.1 urnd"},
		{"no certificate", anonymous, admin, ""},
		{"another authority", unknown, admin, ""},
		{"the service requires none", anonymous, service, "302 HTTP/2.0 urnd"},
	} {
		if got := urndtest.GetOverTLS(tt.client, tt.url); got != tt.want &&
			(tt.want != "" || !strings.HasPrefix(got, "Get ")) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	if status, body := d.AdminRequest(t, "GET /healthz"); status != http.StatusBadRequest {
		t.Errorf("without TLS: %d %s", status, body)
	}
}

// TestCertificateOfTheDaemonExpires checks that the daemon, its metrics, /readyz and urnd config check report
// the expiry of its certificate, and a renewed certificate that is invalid.
func TestCertificateOfTheDaemonExpires(t *testing.T) {
	t.Parallel()
	ca := urndtest.NewAuthority(t)
	certificate, key := ca.Issue(t, "urnd")
	files := urndtest.NewPairFiles(t, certificate, key)
	d := urndtest.Start(t, noDNS, func(c *config.Config) { files.Listen(c, "127.0.0.1:0") })
	const expires = "the certificate of urnd expires at "
	logged := func() int { return strings.Count(d.Log(), expires) }
	testserver.Wait(t, "the log says so", func() bool { return logged() == 1 })
	if status, body := d.AdminRequest(t, "GET /readyz"); status != 200 ||
		!strings.Contains(body, "the certificate of urnd.example expires at ") {
		t.Errorf("/readyz is %d %s", status, body)
	}
	if !strings.Contains(d.Scrape(t), "\nurnd_certificate_expiry_timestamp_seconds{name=\"urnd.example\"} ") {
		t.Error("no metric")
	}
	file := writeTemp(t, "urnd.yaml", fmt.Sprintf("tls: {certificate: %s, key: %s}\n", files.Certificate, files.Key))
	if out, err := urndtest.Run(t, "", "config", "check", file); err != nil ||
		!strings.Contains(out, "warning: the certificate of urnd.example expires at ") {
		t.Errorf("%s, %v", out, err)
	}
	if !reload(t, d, keep) || logged() != 1 {
		t.Error("a reload is refused, or says again when the certificate expires")
	}
	if err := os.WriteFile(files.Key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	testserver.Wait(t, "/readyz is degraded", func() bool {
		_ = urndtest.GetOverTLS(ca.Client(&tls.Config{}), "https://"+d.TLS+"/urn:book:1")
		_, body := d.AdminRequest(t, "GET /readyz")
		return strings.Contains(body, "the certificate files cannot be loaded")
	})
}

// socketAt returns the inode of the socket listening on an address, "" for none.
func socketAt(t *testing.T, address string) string {
	t.Helper()
	_, port, _ := strings.Cut(address, ":")
	var number int
	fmt.Sscan(port, &number)
	for line := range strings.Lines(urndtest.ReadFile(t, "/proc/net/tcp")) {
		const listens = "0A"
		if f := strings.Fields(line); f[1] == fmt.Sprintf("0100007F:%04X", number) && f[3] == listens {
			return f[9]
		}
	}
	return ""
}
