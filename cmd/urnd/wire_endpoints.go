package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/resolver"
)

// The names of endpoints, which are those of systemd's sockets too.
const (
	nameHTTP  = "http"
	nameHTTPS = "https"
	nameAdmin = "admin"
)

// serverSettings are the settings that replace a server when they change.
type serverSettings struct {
	target, header             config.Size
	headerTimeout, bodyTimeout time.Duration
	idleTimeout, shutdownTime  time.Duration
	tls                        config.TLS // the zero value is no TLS
	authorities                string     // the version of the file tls.client_ca
	senders                    string     // of the PROXY protocol
	http2                      bool
	http2Requests              int
}

var errNoCertificate = errors.New("tls.certificate and tls.key are required for the socket https that systemd has opened")

// endpointsOf returns the endpoints of a configuration. Sockets that systemd has opened
// replace addresses.
func endpointsOf(
	c config.Config, inherited map[string][]net.Listener, service *service, administration http.Handler,
	own func() (*listen.Certificate, error), d dependencies,
) ([]daemon.Endpoint, error) {
	secure := config.TLS{Certificate: c.TLS.Certificate, Key: c.TLS.Key}
	var administrators config.TLS
	if c.TLS.ClientCA != "" {
		administrators = c.TLS
	}
	http2Requests := withSockets(c, inherited).HTTP2Requests(availableMemory())
	var all []daemon.Endpoint
	for _, e := range []struct {
		name, setting string
		addresses     []string
		tls           config.TLS
		senders       []netip.Prefix
		handler       httpmessage.Handler
		admin         http.Handler
	}{
		{nameHTTP, "listen.service", c.Listen.Service, config.TLS{}, c.Listen.ProxyProtocol, service, nil},
		{nameHTTPS, "listen.tls", c.Listen.TLS, secure, c.Listen.ProxyProtocol, service, nil},
		{nameAdmin, "listen.admin", []string{c.Listen.Admin}, administrators, nil, nil, administration},
	} {
		if len(inherited[e.name]) > 0 {
			e.addresses = []string{openedBySystemd}
		} else {
			e.addresses = slices.DeleteFunc(slices.Clone(e.addresses), func(address string) bool { return address == "" })
		}
		if len(e.addresses) == 0 {
			continue // it is turned off
		}
		if e.name == nameHTTPS && e.tls.Certificate == "" {
			return nil, errNoCertificate
		}
		serverTLS, err := tlsConfig(e.tls, own)
		if err != nil {
			return nil, err
		}
		for _, address := range e.addresses {
			all = append(all, daemon.Endpoint{
				Name: e.name, Address: address, Handler: e.handler, Admin: e.admin, Administration: e.name == nameAdmin,
				Setting: e.setting, Protocol: protocolOf(c, e.name, http2Requests, d),
				Server: serverConfig(c, e.name, serverTLS, e.senders, d),
				Settings: serverSettings{
					target: c.Limits.Target, header: c.Limits.Header,
					headerTimeout: c.Limits.HeaderTimeout, bodyTimeout: c.Limits.BodyTimeout,
					idleTimeout: c.Limits.IdleTimeout, shutdownTime: c.Limits.ShutdownTimeout,
					tls: e.tls, authorities: secret.Version(e.tls.ClientCA), senders: fmt.Sprint(e.senders), http2: c.Listen.HTTP2,
					http2Requests: http2Requests,
				},
			})
		}
	}
	if c.Listen.RedirectTLS && !slices.ContainsFunc(all, func(e daemon.Endpoint) bool { return e.Name == nameHTTPS }) {
		return nil, errNoTLS
	}
	return all, nil
}

// errNoTLS means that clients would be redirected to a listener that does not exist.
var errNoTLS = errors.New("listen.redirect_tls: there is no listener for TLS: set listen.tls, or enable urnd-https.socket")

// openedBySystemd is the address of an endpoint whose sockets systemd has opened.
const openedBySystemd = ""

func serverConfig(c config.Config, name string, serverTLS *tls.Config, senders []netip.Prefix, d dependencies) listen.ServerConfig {
	s := listen.ServerConfig{
		HeaderTimeout: c.Limits.HeaderTimeout, ShutdownTimeout: c.Limits.ShutdownTimeout,
		TLS: serverTLS, HTTP1: !c.Listen.HTTP2 || name == nameAdmin, ProxyProtocol: senders, Now: time.Now,
	}
	if name != nameAdmin {
		s.Unused = d.metrics.UnusedConnection
	}
	return s
}

// protocolOf returns what serves the connections of an endpoint.
func protocolOf(c config.Config, name string, http2Requests int, d dependencies) func(daemon.Current) daemon.Protocol {
	return func(current daemon.Current) daemon.Protocol {
		if name == nameAdmin {
			return admin.NewServer(admin.ServerConfig{
				Handler: current.Admin, MaxHeader: int(c.Limits.Header), HeaderTimeout: c.Limits.HeaderTimeout,
				IdleTimeout: c.Limits.IdleTimeout, Log: d.log,
				BodyDeadline: func() time.Time { return time.Now().Add(c.Limits.BodyTimeout) },
			})
		}
		return proxy.NewServer(proxy.ServerConfig{
			Handler: current.Handler, Now: time.Now, Log: d.log, Panicked: d.panicked, MaxTarget: int(c.Limits.Target), MaxHeader: int(c.Limits.Header),
			Streams: http2Requests, HeaderTimeout: c.Limits.HeaderTimeout, IdleTimeout: c.Limits.IdleTimeout,
			BodyTimeout: c.Limits.BodyTimeout, WriteDeadline: current.WriteDeadline,
			Refused: func(status int) { d.metrics.Request("none", resolver.I2L.String(), status, 0) },
		})
	}
}

// tlsConfig returns the TLS configuration of a server, nil for no TLS. own is called where there is one.
func tlsConfig(c config.TLS, own func() (*listen.Certificate, error)) (*tls.Config, error) {
	if c == (config.TLS{}) {
		return nil, nil //nolint:nilnil // no TLS, and nothing is wrong
	}
	certificate, err := own()
	if err != nil {
		return nil, err
	}
	serverTLS := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.Get}
	if c.ClientCA == "" {
		return serverTLS, nil
	}
	serverTLS.ClientAuth = tls.RequireAndVerifyClientCert
	serverTLS.ClientCAs, err = secret.Pool("tls.client_ca", c.ClientCA)
	return serverTLS, err
}

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
	watch := func() (*listen.CertificateWatch, func(), error) {
		made := listen.WatchCertificate(certificate, d.now)
		return made, made.Close, nil
	}
	own, err := shared.Reuse(&r.shared, d.previous.reusable(), "certificate", [...]string{c.Certificate, c.Key}, watch)
	if err != nil {
		return nil, err
	}
	r.readiness = append(r.readiness, degrading(own.Faults))
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
