package secret

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/urnd/urnd/config"
)

// Pool reads a file of certificates in PEM, which are trusted. setting is what names it, for errors.
func Pool(setting, name string) (*x509.CertPool, error) {
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

// Pair reads a certificate and its key in PEM. setting begins the names of both settings.
func Pair(setting, certificate, key string) (tls.Certificate, error) {
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

// Version returns a value that changes with a file, by its modification time and size; "" where it does not exist.
func Version(name string) string {
	path, err := Path("", name)
	if err != nil {
		return "" // reading it fails with the same error
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime(), info.Size())
}

// ServerTLS returns how a server is authenticated by TLS, and urnd to it, nil for the defaults. The files are read now: a
// reload reads them again.
func ServerTLS(setting string, c config.ServerTLS) (*tls.Config, error) {
	if c == (config.ServerTLS{}) {
		return nil, nil //nolint:nilnil // the defaults, and nothing is wrong
	}
	client := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if c.MinVersion == "1.3" {
		client.MinVersion = tls.VersionTLS13
	}
	var err error
	if c.CA != "" {
		if client.RootCAs, err = Pool(setting+".ca", c.CA); err != nil {
			return nil, err
		}
	}
	if c.Certificate != "" {
		client.Certificates = make([]tls.Certificate, 1)
		if client.Certificates[0], err = Pair(setting, c.Certificate, c.Key); err != nil {
			return nil, err
		}
	}
	return client, nil
}
