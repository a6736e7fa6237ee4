package main

import (
	"fmt"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/proxy/listen"
)

// newCertificate reads the certificate of a configuration.
func newCertificate(c config.TLS, now func() time.Time) (*listen.Certificate, error) {
	var paths [2]string
	for i, s := range []struct{ setting, name string }{{"tls.certificate", c.Certificate}, {"tls.key", c.Key}} {
		var err error
		if paths[i], err = secret.Path(s.setting, s.name); err != nil {
			return nil, err
		}
	}
	certificate, err := listen.NewCertificate(paths[0], paths[1], now)
	if err != nil {
		return nil, fmt.Errorf("tls.certificate and tls.key: %w", err)
	}
	return certificate, nil
}

// wireCertificate returns the certificate of a configuration: the one of the previous configuration where it has the same
// files. Files that are invalid now are an error, though the one before could still be used.
func wireCertificate(c config.TLS, r *resolution, d dependencies) (*listen.CertificateWatch, error) {
	certificate, err := newCertificate(c, d.now)
	if err != nil {
		return nil, err
	}
	own, err := shared.Reuse(&r.shared, d.previous.reusable(), "certificate", [...]string{c.Certificate, c.Key}, func() (*listen.CertificateWatch, func(), error) {
		made := listen.WatchCertificate(certificate, d.now)
		return made, made.Close, nil
	})
	if err != nil {
		return nil, err
	}
	r.faults = append(r.faults, own.Faults)
	r.starters = append(r.starters, func() { own.Start(d.log) })
	return own, nil
}

// checkCertificate returns the certificate of a configuration, nil where there is none.
func checkCertificate(c config.TLS) (*listen.Certificate, error) {
	if c.Certificate == "" || c.Key == "" {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	certificate, err := newCertificate(c, time.Now)
	if err != nil {
		return nil, err
	}
	_, err = tlsConfig(c, func() (*listen.Certificate, error) { return certificate, nil })
	return certificate, err
}

// expiryOf says when the certificate of a configuration expires, "" where there is none.
func expiryOf(c config.TLS, now time.Time) (string, error) {
	certificate, err := checkCertificate(c)
	if err != nil || certificate == nil {
		return "", err
	}
	leaf, _ := certificate.Leaf()
	if notice := listen.Validity(leaf, now); notice != "" {
		return "warning: it " + notice, nil
	}
	return "it expires at " + leaf.NotAfter.UTC().Format(time.RFC3339), nil
}
