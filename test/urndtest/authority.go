package urndtest

import (
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
	"testing"
	"time"

	"github.com/urnd/urnd/config"
)

// Authority is a certificate authority.
type Authority struct {
	PEM []byte // own certificate

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority creates an authority with its own key.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{}
	a.PEM, _ = a.Issue(t, "authority")
	block, _ := pem.Decode(a.PEM)
	var err error
	if a.certificate, err = x509.ParseCertificate(block.Bytes); err != nil {
		t.Fatal(err)
	}
	return a
}

// Issue returns a certificate for 127.0.0.1 and NAME.example that is valid for an hour, and its key, in PEM.
// Its common name is the name. The first one is the certificate of the authority.
func (a *Authority) Issue(t testing.TB, name string) (certificate, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().AddDate(0, -1, 0), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{name + ".example"},
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
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// Client returns an HTTP client with a TLS configuration that trusts the authority. It uses a new connection
// for each request and follows no redirects.
func (a *Authority) Client(c *tls.Config) *http.Client {
	c.RootCAs = x509.NewCertPool()
	c.RootCAs.AddCert(a.certificate)
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: c, DisableKeepAlives: true, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// PairFiles contains the paths of a certificate and its key.
type PairFiles struct{ Certificate, Key string }

// NewPairFiles writes a certificate and its key.
func NewPairFiles(t testing.TB, certificate, key []byte) PairFiles {
	t.Helper()
	dir := t.TempDir()
	p := PairFiles{filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")}
	WriteLater(t, p.Certificate, certificate)
	WriteLater(t, p.Key, key)
	return p
}

// Listen makes urnd listen for TLS with the certificate on an address.
func (p PairFiles) Listen(c *config.Config, address string) {
	c.Listen.TLS, c.TLS.Certificate, c.TLS.Key = []string{address}, p.Certificate, p.Key
}

// WriteLater writes a file with a later modification time than before, because file systems have a coarse
// clock.
func WriteLater(t testing.TB, path string, text []byte) {
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

// GetOverTLS returns the status, the protocol and the name in the certificate, or the error.
func GetOverTLS(client *http.Client, url string) string {
	response, err := client.Get(url)
	if err != nil {
		return err.Error()
	}
	response.Body.Close()
	return fmt.Sprintf("%d %s %s", response.StatusCode, response.Proto,
		response.TLS.PeerCertificates[0].Subject.CommonName)
}
