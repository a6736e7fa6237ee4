package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
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

// issue returns a certificate for loopback and its key, in PEM. The first one is the authority's own.
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
		NotBefore: time.Now().Add(-time.Hour), NotAfter: end, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames: []string{name + ".example"}, BasicConstraintsValid: true, IsCA: a.certificate == nil,
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

// pairFiles are the files of a certificate and its key.
type pairFiles struct{ certificate, key string }

func newPairFiles(t *testing.T, certificate, key []byte) pairFiles {
	t.Helper()
	dir := t.TempDir()
	p := pairFiles{filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")}
	writeLater(t, p.certificate, certificate)
	writeLater(t, p.key, key)
	return p
}

// writeLater writes a file with a later modification time than before, since file systems have coarse clocks.
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

// Configured certificate files can be used.
func TestCertificateFiles(t *testing.T) {
	ca := newAuthority(t)
	certificate, key := ca.issue(t, "first")
	next, nextKey := ca.issue(t, "second")
	files := newPairFiles(t, certificate, key)
	for name, c := range map[string]config.TLS{
		"another key": {Certificate: files.certificate, Key: newPairFiles(t, next, nextKey).key},
		"no file":     {Certificate: files.certificate, Key: "/nowhere"},
		"credential":  {Certificate: files.certificate, Key: "credential:key"},
		"a further one": {
			Certificate: files.certificate, Key: files.key,
			Certificates: []config.CertificateFiles{{Certificate: "/nowhere", Key: files.key}},
		},
		"authority": {Certificate: files.certificate, Key: files.key, ClientCA: files.key},
	} {
		if _, err := checkCertificates(c); err == nil {
			t.Errorf("%s has no error", name)
		}
	}
	t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(files.key))
	if _, err := checkCertificates(config.TLS{
		Certificate: "credential:certificate.pem",
		Key:         "credential:key.pem",
	}); err != nil {
		t.Error(err)
	}
}
