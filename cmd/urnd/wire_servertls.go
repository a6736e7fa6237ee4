package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/secret"
)

// serverTLS returns how a server is authenticated by TLS, and urnd to it, nil for the defaults. The files are read now: a
// reload reads them again.
func serverTLS(setting string, c config.ServerTLS) (*tls.Config, error) {
	if c == (config.ServerTLS{}) {
		return nil, nil //nolint:nilnil // the defaults, and nothing is wrong
	}
	client := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if c.MinVersion == "1.3" {
		client.MinVersion = tls.VersionTLS13
	}
	if c.CA != "" {
		text, err := secret.Read(setting+".ca", c.CA)
		if err != nil {
			return nil, err
		}
		client.RootCAs = x509.NewCertPool()
		if !client.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s.ca: %s contains no certificate", setting, c.CA)
		}
	}
	if c.Certificate == "" {
		return client, nil
	}
	certificate, err := secret.Read(setting+".certificate", c.Certificate)
	if err != nil {
		return nil, err
	}
	key, err := secret.Read(setting+".key", c.Key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("%s.certificate and %[1]s.key: %w", setting, err)
	}
	client.Certificates = []tls.Certificate{pair}
	return client, nil
}
