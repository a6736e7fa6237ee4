package secret

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
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
