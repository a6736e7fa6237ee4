//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// writeCertificate writes a certificate for the host of the gateway and its key into one file. Its kind is that
// of most sites.
func writeCertificate(name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	now := time.Now()
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{gatewayHost}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	var text bytes.Buffer
	err = errors.Join(
		pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		pem.Encode(&text, &pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	if err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o644) //nolint:gosec // readable by servers that drop root
}

// secured performs a full handshake of TLS 1.3 for HTTP/1.1. The key exchange is one that all servers support:
// OpenSSL before 3.5 has no ML-KEM, which crypto/tls prefers.
func secured(ctx context.Context, c net.Conn) (net.Conn, error) {
	s := tls.Client(c, &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // the certificate is generated for the run
		ServerName:         gatewayHost,
		MinVersion:         tls.VersionTLS13,
		CurvePreferences:   []tls.CurveID{tls.X25519},
		NextProtos:         []string{"http/1.1"},
	})
	if err := s.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return s, nil
}
