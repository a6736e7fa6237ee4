package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// authorities returns the certificates of the authorities trusted by Mozilla, in PEM. They come from a module,
// so that they depend on go.sum instead of the build machine. Authorities that are trusted conditionally are
// excluded, because PEM cannot represent conditions.
func authorities() ([]byte, error) {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		certificate, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return nil, fmt.Errorf("parsing a certificate of an authority: %w", err)
		}
		fmt.Fprintf(&out, "# %s\n", certificate.Subject)
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, fmt.Errorf("writing a certificate of an authority: %w", err)
		}
	}
	return out.Bytes(), nil
}
