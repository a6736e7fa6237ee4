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
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/certificate"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/resolver"
)

// Names of endpoints, and of the sockets of systemd.
const (
	nameHTTP  = "http"
	nameHTTPS = "https"
	nameAdmin = "admin"
)

// serverSettings are the settings whose change replaces a server.
type serverSettings struct {
	target, header             config.Size
	headerTimeout, bodyTimeout time.Duration
	idleTimeout, shutdownTime  time.Duration
	certificates               *certificate.Set // nil is no TLS
	authorities                string           // version of the file tls.client_ca
	senders                    string           // trusted senders of the PROXY protocol
	http2                      bool
	http2Requests              int
	webSockets                 bool
}

var errNoCertificate = errors.New("tls.certificate and tls.key, or acme.enabled, are required for the socket https " +
	"of systemd")

// endpointsOf returns the endpoints of a configuration. Sockets that systemd has opened replace configured
// addresses.
func endpointsOf(
	c config.Config, inherited map[string][]net.Listener, service *service, administration http.Handler,
	own func() (*certificate.Set, error), d dependencies,
) ([]daemon.Endpoint, error) {
	http2Requests := withSockets(c, inherited).HTTP2Requests(availableMemory())
	var all []daemon.Endpoint
	for _, e := range []struct {
		name, setting string
		addresses     []string
		hasTLS        bool
		authorities   string // of clients
		senders       []netip.Prefix
		handler       httpmessage.Handler
		admin         http.Handler
	}{
		{nameHTTP, "listen.service", c.Listen.Service, false, "", c.Listen.ProxyProtocol, service, nil},
		{nameHTTPS, "listen.tls", c.Listen.TLS, true, "", c.Listen.ProxyProtocol, service, nil},
		{
			nameAdmin, "listen.admin",
			[]string{c.Listen.Admin},
			c.TLS.ClientCA != "", c.TLS.ClientCA, nil, nil,
			administration,
		},
	} {
		if len(inherited[e.name]) > 0 {
			e.addresses = []string{openedBySystemd}
		} else {
			e.addresses = slices.DeleteFunc(slices.Clone(e.addresses),
				func(address string) bool { return address == "" })
		}
		if len(e.addresses) == 0 {
			continue // it is disabled
		}
		if e.name == nameHTTPS && c.TLS.Certificate == "" && !c.ACME.Enabled {
			return nil, errNoCertificate
		}
		var certificates *certificate.Set
		var serverTLS *tls.Config
		var err error
		if e.hasTLS {
			if certificates, err = own(); err != nil {
				return nil, err
			}
			if serverTLS, err = tlsConfig(certificates, e.authorities); err != nil {
				return nil, err
			}
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
					certificates: certificates, authorities: secret.Version(e.authorities),
					senders: fmt.Sprint(e.senders), http2: c.Listen.HTTP2,
					http2Requests: http2Requests, webSockets: hasWebSockets(c),
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
var errNoTLS = errors.New("listen.redirect_tls: there is no TLS listener: set listen.tls, or enable urnd-https.socket")

// openedBySystemd is the address of an endpoint whose sockets systemd has opened.
const openedBySystemd = ""

func serverConfig(
	c config.Config, name string, serverTLS *tls.Config, senders []netip.Prefix, d dependencies,
) listen.ServerConfig {
	s := listen.ServerConfig{
		ReadHeaderTimeout: c.Limits.HeaderTimeout, ShutdownTimeout: c.Limits.ShutdownTimeout,
		TLS: serverTLS, DisableHTTP2: !c.Listen.HTTP2 || name == nameAdmin, ProxyProtocol: senders, Now: time.Now,
		Log: d.persistentLog,
	}
	if name != nameAdmin {
		s.Unused = d.metrics.UnusedConnection
	}
	return s
}

// hasWebSockets reports whether clients may switch the protocol of a stream of HTTP/2.
func hasWebSockets(c config.Config) bool { return len(c.Proxy.Sites)+len(c.Access.ProxyClients) > 0 }

// protocolOf returns the protocol server for the connections of an endpoint.
func protocolOf(
	c config.Config, name string, http2Requests int, d dependencies,
) func(daemon.CurrentHandlers) daemon.Protocol {
	return func(current daemon.CurrentHandlers) daemon.Protocol {
		if name == nameAdmin {
			return admin.NewServer(admin.ServerConfig{
				Handler: current.Admin, MaxHeaderBytes: int(c.Limits.Header), ReadHeaderTimeout: c.Limits.HeaderTimeout,
				IdleTimeout: c.Limits.IdleTimeout, Log: d.persistentLog,
				BodyDeadline: func() time.Time { return time.Now().Add(c.Limits.BodyTimeout) },
			})
		}
		return proxy.NewServer(proxy.ServerConfig{
			Handler: current.Handler, Now: time.Now, Log: d.persistentLog, Panicked: d.panicked,
			MaxTarget: int(c.Limits.Target), MaxHeaderBytes: int(c.Limits.Header), MaxConcurrentStreams: http2Requests,
			WebSockets: hasWebSockets(c), ReadHeaderTimeout: c.Limits.HeaderTimeout,
			IdleTimeout: c.Limits.IdleTimeout, BodyTimeout: c.Limits.BodyTimeout, WriteDeadline: current.WriteDeadline,
			Rejected: func(status int) { d.metrics.Request("none", resolver.I2L.String(), status, 0) },
		})
	}
}
