package secret

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/urnd/urnd/config"
)

// LoadCertPool reads a PEM file of trusted certificates. setting is the configuration setting that contains name, for
// errors.
func LoadCertPool(setting, name string) (*x509.CertPool, error) {
	text, err := Read(setting, name)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: %s contains no certificate", setting, name)
	}
	return pool, nil
}

// LoadKeyPair reads a certificate and its key in PEM. setting is the common prefix of both settings.
func LoadKeyPair(setting, certificate, key string) (tls.Certificate, error) {
	certificateText, err := Read(setting+".certificate", certificate)
	if err != nil {
		return tls.Certificate{}, err
	}
	keyText, err := Read(setting+".key", key)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(certificateText, keyText)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s.certificate and %[1]s.key: %w", setting, err)
	}
	return pair, nil
}

// Version returns a value that changes when the file is written, derived from its modification time and size;
// "" if it does not exist.
func Version(name string) string {
	path, err := Path("", name)
	if err != nil {
		return "" // reading it returns the same error
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime(), info.Size())
}

// ServerTLS returns the TLS client configuration for connections to a server: how it is authenticated, and how
// urnd authenticates itself. nil stands for the defaults. The files are read by this call; a reload reads them
// again.
func ServerTLS(setting string, c config.ServerTLS) (*tls.Config, error) {
	if c == (config.ServerTLS{}) {
		return nil, nil //nolint:nilnil // nil stands for the defaults
	}
	client := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if c.MinVersion == "1.3" {
		client.MinVersion = tls.VersionTLS13
	}
	var err error
	if c.CA != "" {
		if client.RootCAs, err = LoadCertPool(setting+".ca", c.CA); err != nil {
			return nil, err
		}
	}
	if c.Certificate != "" {
		client.Certificates = make([]tls.Certificate, 1)
		if client.Certificates[0], err = LoadKeyPair(setting, c.Certificate, c.Key); err != nil {
			return nil, err
		}
	}
	return client, nil
}
