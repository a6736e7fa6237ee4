package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/urnd/urnd/config"
)

// certificate is one of files that are read again when they change. It is safe for
// concurrent use.
type certificate struct {
	paths [2]string // of the certificate and its key
	now   func() time.Time

	mu     sync.Mutex
	loaded *tls.Certificate
	seen   [2]os.FileInfo
	looked time.Time
}

// certificateRest is how long files are not looked at again.
const certificateRest = time.Second

// tlsConfig returns what is to be spoken with clients, nil for no TLS.
func tlsConfig(c config.TLS, now func() time.Time) (*tls.Config, error) {
	if c == (config.TLS{}) {
		return nil, nil //nolint:nilnil // no TLS, and nothing is wrong
	}
	pair := &certificate{now: now}
	for i, s := range []struct{ setting, name string }{{"tls.certificate", c.Certificate}, {"tls.key", c.Key}} {
		var err error
		if pair.paths[i], err = secretPath(s.setting, s.name); err != nil {
			return nil, err
		}
	}
	if _, err := pair.get(nil); err != nil {
		return nil, err
	}
	spoken := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pair.get}
	if c.ClientCA == "" {
		return spoken, nil
	}
	text, err := readSecret("tls.client_ca", c.ClientCA)
	if err != nil {
		return nil, err
	}
	spoken.ClientCAs, spoken.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !spoken.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls.client_ca: %s holds no certificate", c.ClientCA)
	}
	return spoken, nil
}

// get returns the certificate of the files, and the last good one while they are not
// good: they may be half written.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.loaded != nil && now.Sub(c.looked) < certificateRest {
		return c.loaded, nil
	}
	c.looked = now
	var found [2]os.FileInfo
	for i, path := range c.paths {
		if info, err := os.Stat(path); err == nil {
			found[i] = info
		}
	}
	if c.loaded != nil && same(found[0], c.seen[0]) && same(found[1], c.seen[1]) {
		return c.loaded, nil
	}
	pair, err := tls.LoadX509KeyPair(c.paths[0], c.paths[1])
	switch {
	case err == nil:
		c.loaded, c.seen = &pair, found
		return c.loaded, nil
	case c.loaded != nil:
		return c.loaded, nil
	default:
		return nil, fmt.Errorf("tls.certificate and tls.key: %w", err)
	}
}
