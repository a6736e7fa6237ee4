package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/explain"
	"github.com/urnd/urnd/resolver/scheme/file"
	"github.com/urnd/urnd/resolver/scheme/ftp"
	"github.com/urnd/urnd/resolver/scheme/gopher"
	"github.com/urnd/urnd/resolver/scheme/nntp"
	"github.com/urnd/urnd/resolver/scheme/template"
	"github.com/urnd/urnd/resolver/scheme/wais"
)

// maxGatewayLine bounds a line of a listing, in octets. That of an overview of news is the longest: it
// has the references of an article, of which RFC 5536 sets no bound.
const maxGatewayLine = 64 << 10

// newGateways returns the handlers of the schemes other than http and https.
func newGateways(s *service, c config.Config, r *resolution, d dependencies) (scheme.Mux, error) {
	guard := r.guard.Bounded(r.slots.outgoing)
	dial := func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
		return guard.With(check).WithIdleTimeout(c.Limits.OriginIdle)(ctx, network, address)
	}
	limits := scheme.Limits{
		Timeout: c.Gateways.Timeout, Entries: c.Gateways.MaxEntries, Octets: int64(c.Gateways.MaxListing), Line: maxGatewayLine,
	}
	ports := gatewayPorts(c.Gateways)
	// Connections that wait must not have all that there may be: those of the web have at most half.
	const part = 8
	mayWait := c.Limits.Outgoing / part
	handlers := make(scheme.Mux)
	if c.FTP.Enabled {
		client := ftp.New(ftp.Config{
			Dial: dial, Limits: limits, Now: d.now, Anonymous: c.FTP.Anonymous, Login: c.FTP.Login, TLS: ftpTLS()[c.FTP.TLS],
			// Each request needs two connections at a time.
			MaxIdle: min(c.FTP.MaxIdle, mayWait), Idle: c.FTP.Idle, MaxFetches: max(c.Limits.Outgoing/2, 1),
			DataPort: func(port uint16) error { return ports.CheckPort("ftp", port) },
		})
		s.closers = append(s.closers, client.Close)
		handlers["ftp"] = client
	}
	if c.Gopher.Enabled {
		handlers["gopher"] = gopher.New(gopher.Config{Dial: dial, Limits: limits})
	}
	if c.WAIS.Enabled {
		client := wais.New(wais.Config{Dial: dial, Limits: limits, Records: c.WAIS.Records})
		handlers["wais"], handlers["z39.50r"], handlers["z39.50s"] = client, client, client
	}
	if c.News.Enabled {
		client, err := newNews(c.News, nntp.Config{
			Dial: dial, Limits: limits, Now: d.now, MaxIdle: min(c.News.MaxIdle, mayWait), Idle: c.News.Idle,
		})
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, client.Close)
		handlers["news"], handlers["nntp"] = client, client
	}
	for name, handler := range handlers {
		handlers[name] = scheme.Gateway{Handler: handler, Ports: ports}
	}
	handlers["file"] = scheme.Gateway{Handler: file.New(file.Config{Roots: c.File.Roots, Limits: limits, Now: d.now}), Local: true}
	// These connect to no server, too: a page that warns of a port says more than a refusal.
	for _, name := range explain.Schemes() {
		handlers[name] = scheme.Gateway{Handler: explain.New(explain.Config{Ports: ports}), Ports: anyPort(), Local: true}
	}
	for _, g := range c.Gateways.Templates {
		handlers[strings.ToLower(g.Scheme)] = scheme.Gateway{Handler: template.New(template.Config{Template: g.Template}), Ports: anyPort(), Local: true}
	}
	return handlers, nil
}

// gatewayPorts returns which ports a URL may name.
func gatewayPorts(c config.Gateways) scheme.Ports {
	return scheme.Ports{Allow: tunnelPort(c.AllowPorts), Deny: tunnelPort(c.DenyPorts)}
}

func anyPort() scheme.Ports {
	return scheme.Ports{Allow: func(uint16) bool { return true }}
}

// ftpTLS are the values of ftp.tls.
func ftpTLS() map[string]ftp.TLS {
	return map[string]ftp.TLS{"never": ftp.TLSNever, "offered": ftp.TLSOffered, "required": ftp.TLSRequired}
}

// newNews returns the client of news servers.
func newNews(c config.News, settings nntp.Config) (*nntp.Handler, error) {
	settings.Page = c.Page
	for _, server := range c.Servers {
		address, isTLS := strings.CutPrefix(server, "tls://")
		settings.Servers = append(settings.Servers, nntp.Server{Address: address, TLS: isTLS})
	}
	if c.Login != "" {
		text, err := secret.Read("news.login", c.Login)
		if err != nil {
			return nil, err
		}
		user, password, ok := strings.Cut(string(bytes.TrimSpace(text)), ":")
		if !ok {
			return nil, fmt.Errorf("news.login: there is no colon between the user and the password")
		}
		settings.User, settings.Password = user, password
	}
	return nntp.New(settings), nil
}
