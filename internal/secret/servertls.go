package secret

import (
	"crypto/tls"

	"github.com/urnd/urnd/config"
)

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
