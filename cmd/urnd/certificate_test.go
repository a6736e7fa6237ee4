package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// authority issues certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	text, _ := a.issue(t, "authority")
	block, _ := pem.Decode(text)
	var err error
	if a.certificate, err = x509.ParseCertificate(block.Bytes); err != nil {
		t.Fatal(err)
	}
	a.pem = text
	return a
}

// issue returns a certificate for loopback and its key, in PEM. The first one is the
// authority's own.
func (a *authority) issue(t *testing.T, name string) (certificate, key []byte) {
	t.Helper()
	return a.issueUntil(t, name, time.Now().Add(time.Hour))
}

// issueUntil is issue with the end of the validity.
func (a *authority) issueUntil(t *testing.T, name string, end time.Time) (certificate, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: end, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{name + ".example"},
		BasicConstraintsValid: true, IsCA: a.certificate == nil,
	}
	parent, signs := a.certificate, a.key
	if parent == nil {
		parent, signs, a.key = template, own, own
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, own.Public(), signs)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// pairFiles are a certificate and its key on disk.
type pairFiles struct{ certificate, key string }

func newPairFiles(t *testing.T, certificate, key []byte) pairFiles {
	t.Helper()
	dir := t.TempDir()
	p := pairFiles{filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")}
	writeLater(t, p.certificate, certificate)
	writeLater(t, p.key, key)
	return p
}

// writeLater writes a file with a later modification time than before: clocks of file
// systems are coarse.
func writeLater(t *testing.T, path string, text []byte) {
	t.Helper()
	later := time.Now()
	if info, err := os.Stat(path); err == nil {
		later = info.ModTime().Add(time.Second)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
}

// client uses a configuration of TLS, and a new connection for each request.
func (a *authority) client(c *tls.Config) *http.Client {
	c.RootCAs = x509.NewCertPool()
	c.RootCAs.AddCert(a.certificate)
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: c, DisableKeepAlives: true, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// getOverTLS returns the status, the protocol and the name in the certificate, or the error.
func getOverTLS(client *http.Client, url string) string {
	response, err := client.Get(url)
	if err != nil {
		return err.Error()
	}
	response.Body.Close()
	return fmt.Sprintf("%d %s %s", response.StatusCode, response.Proto, response.TLS.PeerCertificates[0].Subject.CommonName)
}

func TestCertificate(t *testing.T) {
	ca := newAuthority(t)
	certificate, key := ca.issue(t, "first")
	files := newPairFiles(t, certificate, key)
	l := start(t, `listen: {service: "127.0.0.1:0", tls: "127.0.0.1:0", admin: ""}`, "tls: {certificate: '"+files.certificate+"', key: '"+files.key+"'}")
	url := "https://" + l.secure + "/urn:book:1"
	for _, tt := range []struct {
		name   string
		config *tls.Config
		want   string
	}{
		{"HTTP/2", &tls.Config{}, "302 HTTP/2.0 first"},
		{"TLS 1.2", &tls.Config{MaxVersion: tls.VersionTLS12}, "302 HTTP/2.0 first"},
		{"HTTP/1.1", &tls.Config{NextProtos: []string{"http/1.1"}}, "302 HTTP/1.1 first"},
		{"TLS 1.1", &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, "protocol version not supported"},
	} {
		client := ca.client(tt.config)
		if tt.name == "HTTP/1.1" {
			client.Transport.(*http.Transport).ForceAttemptHTTP2 = false
		}
		if got := getOverTLS(client, url); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	next, nextKey := ca.issue(t, "second")
	writeLater(t, files.certificate, next)
	writeLater(t, files.key, nextKey)
	client := ca.client(&tls.Config{})
	testserver.Wait(t, "the certificate is replaced", func() bool { return getOverTLS(client, url) == "302 HTTP/2.0 second" })
	writeLater(t, files.key, key)
	if l.reload(t) {
		t.Error("a reload is not refused while the files of the certificate are half written")
	}
	if got := getOverTLS(client, url); got != "302 HTTP/2.0 second" {
		t.Error(got)
	}
	if l.get(t, "/urn:book:1").status != http.StatusFound {
		t.Error("no answer without TLS")
	}
}

// listen.http2 decides what new connections are offered, also after a reload.
func TestListenHTTP2(t *testing.T) {
	ca := newAuthority(t)
	certificate, key := ca.issue(t, "urnd")
	files := newPairFiles(t, certificate, key)
	address := freeAddress(t)
	lines := func(http2 string) []string {
		return []string{
			`listen: {service: "127.0.0.1:0", tls: "` + address + `", admin: "", http2: ` + http2 + `}`,
			"tls: {certificate: '" + files.certificate + "', key: '" + files.key + "'}",
		}
	}
	l := start(t, lines("false")...)
	url := "https://" + address + "/urn:book:1"
	if got := getOverTLS(ca.client(&tls.Config{}), url); got != "302 HTTP/1.1 urnd" {
		t.Error(got)
	}
	l.write(t, lines("true")...)
	if !l.reload(t) {
		t.Fatal("the reload is refused")
	}
	// The server before may take one more connection in the moment in which it ends.
	testserver.Wait(t, "HTTP/2 is offered", func() bool { return getOverTLS(ca.client(&tls.Config{}), url) == "302 HTTP/2.0 urnd" })
}

// A certificate may be half written, and its key written at another time.
func TestCertificateHalfWritten(t *testing.T) {
	ca := newAuthority(t)
	certificate, key := ca.issue(t, "first")
	next, nextKey := ca.issue(t, "second")
	files := newPairFiles(t, certificate, key)
	var now clock
	own, err := newCertificate(config.TLS{Certificate: files.certificate, Key: files.key}, now.now)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path string
		text       []byte // nil: the file is gone
		want       []byte
	}{
		{"half a certificate", files.certificate, next[:len(next)/2], certificate},
		{"no certificate", files.certificate, []byte{}, certificate},
		{"no file", files.certificate, nil, certificate},
		{"the certificate alone", files.certificate, next, certificate},
		{"half a key", files.key, nextKey[:len(nextKey)/2], certificate},
		{"the key", files.key, nextKey, next},
		{"the old key", files.key, key, next},
		{"the old certificate", files.certificate, certificate, certificate},
	} {
		if tt.text == nil {
			err = os.Remove(tt.path)
		} else {
			writeLater(t, tt.path, tt.text)
		}
		now.advance(time.Second)
		got, _ := own.Get(nil)
		if block, _ := pem.Decode(tt.want); err != nil || got == nil || !bytes.Equal(got.Certificate[0], block.Bytes) {
			t.Errorf("%s: another certificate; %v", tt.name, err)
		}
	}
	for name, c := range map[string]config.TLS{
		"another key": {Certificate: files.certificate, Key: newPairFiles(t, next, nextKey).key},
		"no file":     {Certificate: files.certificate, Key: "/nowhere"},
		"credential":  {Certificate: files.certificate, Key: "credential:key"},
		"authority":   {Certificate: files.certificate, Key: files.key, ClientCA: files.key},
	} {
		if _, err := checkCertificate(c); err == nil {
			t.Errorf("%s is no fault", name)
		}
	}
	t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(files.key))
	if _, err := checkCertificate(config.TLS{Certificate: "credential:certificate.pem", Key: "credential:key.pem"}); err != nil {
		t.Error(err)
	}
}

func TestCertificateOfAdministrators(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	certificate, key := ca.issue(t, "urnd")
	files := newPairFiles(t, certificate, key)
	authorities := newPairFiles(t, ca.pem, nil).certificate
	listen := "listen: {service: '127.0.0.1:0', admin: '" + freeAddress(t) + "', tls: '127.0.0.1:0'}"
	pair := func(certificate, key []byte) tls.Certificate {
		p, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	known := ca.client(&tls.Config{Certificates: []tls.Certificate{pair(ca.issue(t, "administrator"))}})
	unknown := ca.client(&tls.Config{Certificates: []tls.Certificate{pair(other.issue(t, "administrator"))}})
	anonymous := ca.client(&tls.Config{})
	l := start(t, listen, "tls: {certificate: '"+files.certificate+"', key: '"+files.key+"'}")
	socket := socketAt(t, l.admin)
	plain := testService{url: "http://" + l.admin}
	if got := plain.get(t, "/healthz"); got.status != http.StatusOK {
		t.Errorf("without client_ca: %+v", got)
	}
	l.write(t, listen, "tls: {certificate: '"+files.certificate+"', key: '"+files.key+"', client_ca: '"+authorities+"'}")
	if !l.reload(t) || socketAt(t, l.admin) != socket {
		t.Error("not reloaded, or another socket")
	}
	admin, service := "https://"+l.admin+"/healthz", "https://"+l.secure+"/urn:book:1"
	for _, tt := range []struct {
		name   string
		client *http.Client
		url    string
		want   string // "" is that there is no answer
	}{
		{"an administrator", known, admin, "200 HTTP/2.0 urnd"},
		{"no certificate", anonymous, admin, ""},
		{"another authority", unknown, admin, ""},
		{"the service requires none", anonymous, service, "302 HTTP/2.0 urnd"},
	} {
		if got := getOverTLS(tt.client, tt.url); got != tt.want && (tt.want != "" || !strings.HasPrefix(got, "Get ")) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	if got := plain.get(t, "/healthz"); got.status != http.StatusBadRequest {
		t.Errorf("without TLS: %+v", got)
	}
}
