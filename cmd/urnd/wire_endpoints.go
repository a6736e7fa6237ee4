package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
)

// The names of endpoints, which are those of systemd's sockets too.
const (
	nameHTTP  = "http"
	nameHTTPS = "https"
	nameAdmin = "admin"
)

// serverSettings are those for which a server is replaced by another one when they
// change.
type serverSettings struct {
	target, header                           config.Size
	headerTimeout, idleTimeout, shutdownTime time.Duration
	tls                                      config.TLS // the zero value is no TLS
	authorities                              string     // how the file of tls.client_ca is
	senders                                  string     // of the PROXY protocol
}

var errNoCertificate = errors.New("tls.certificate and tls.key are required for the socket https that systemd has opened")

// endpointsOf returns the endpoints of a configuration. Those that systemd has opened
// take the place of addresses.
func endpointsOf(c config.Config, inherited map[string][]net.Listener, service, admin http.Handler, d dependencies) ([]daemon.Endpoint, error) {
	secure := config.TLS{Certificate: c.TLS.Certificate, Key: c.TLS.Key}
	var administrators config.TLS
	if c.TLS.ClientCA != "" {
		administrators = c.TLS
	}
	var all []daemon.Endpoint
	for _, e := range []struct {
		name, address string
		tls           config.TLS
		senders       []netip.Prefix
		handler       http.Handler
	}{
		{nameHTTP, c.Listen.Service, config.TLS{}, c.Listen.ProxyProtocol, service},
		{nameHTTPS, c.Listen.TLS, secure, c.Listen.ProxyProtocol, service},
		{nameAdmin, c.Listen.Admin, administrators, nil, admin},
	} {
		if len(inherited[e.name]) > 0 {
			e.address = ""
		} else if e.address == "" {
			continue // it is turned off
		}
		if e.name == nameHTTPS && e.tls.Certificate == "" {
			return nil, errNoCertificate
		}
		spoken, err := tlsConfig(e.tls, d.now)
		if err != nil {
			return nil, err
		}
		all = append(all, daemon.Endpoint{
			Name: e.name, Address: e.address, Handler: e.handler, Administration: e.name == nameAdmin,
			Server: serverConfig(c, e.name, spoken, e.senders, d),
			Settings: serverSettings{
				target: c.Limits.Target, header: c.Limits.Header,
				headerTimeout: c.Limits.HeaderTimeout, idleTimeout: c.Limits.IdleTimeout, shutdownTime: c.Limits.ShutdownTimeout,
				tls: e.tls, authorities: modified("tls.client_ca", e.tls.ClientCA), senders: fmt.Sprint(e.senders),
			},
		})
	}
	return all, nil
}

func serverConfig(c config.Config, name string, spoken *tls.Config, senders []netip.Prefix, d dependencies) listen.ServerConfig {
	s := listen.ServerConfig{
		MaxTarget: int(c.Limits.Target), MaxHeader: int(c.Limits.Header),
		HeaderTimeout: c.Limits.HeaderTimeout, IdleTimeout: c.Limits.IdleTimeout, ShutdownTimeout: c.Limits.ShutdownTimeout,
		TLS: spoken, ProxyProtocol: senders,
		Malformed: func(m listen.Malformed) listen.Document {
			return document(problem.Malformed(m.Status, m.Target, int(c.Limits.Target), m.PlainHTTP))
		},
	}
	if name != nameAdmin {
		s.Unused = d.metrics.UnusedConnection
		s.Refused = func(status int) { d.metrics.Request("none", resolver.I2L.String(), status, 0) }
	}
	return s
}

// document words an error for a connection that is refused.
func document(err error) listen.Document {
	status, contentType, body := problem.Short(err)
	return listen.Document{Status: status, ContentType: contentType, Body: body}
}

// modified tells a file that the configuration names from what it was before, as far as
// its metadata tells; "" is that it is not there.
func modified(setting, name string) string {
	path, err := secretPath(setting, name)
	if err != nil {
		return "" // whoever reads it says so
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime(), info.Size())
}

// tlsConfig returns what is spoken with clients, nil for no TLS.
func tlsConfig(c config.TLS, now func() time.Time) (*tls.Config, error) {
	if c == (config.TLS{}) {
		return nil, nil //nolint:nilnil // no TLS, and nothing is wrong
	}
	var paths [2]string
	for i, s := range []struct{ setting, name string }{{"tls.certificate", c.Certificate}, {"tls.key", c.Key}} {
		var err error
		if paths[i], err = secretPath(s.setting, s.name); err != nil {
			return nil, err
		}
	}
	certificate, err := listen.NewCertificate(paths[0], paths[1], now)
	if err != nil {
		return nil, fmt.Errorf("tls.certificate and tls.key: %w", err)
	}
	spoken := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.Get}
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
