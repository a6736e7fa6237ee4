package main

import (
	"bytes"
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
