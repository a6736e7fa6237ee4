package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

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

// gatewayParts is what handlers of protocol gateways are made of.
type gatewayParts struct {
	config  config.Config
	dial    scheme.Dial
	limits  scheme.Limits
	now     func() time.Time
	mayWait int // how many connections may wait for the next request
}

// newGateways returns the handlers of the schemes other than http and https.
func newGateways(s *service, c config.Config, r *resolution, d dependencies) (scheme.Mux, error) {
	guard := r.guard.Bounded(r.slots.outgoing)
	parts := gatewayParts{
		config: c, now: d.now,
		dial: func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
			return guard.With(check).WithIdleTimeout(c.Limits.OriginIdle)(ctx, network, address)
		},
		limits: scheme.Limits{
			Timeout: c.Gateways.Timeout, Entries: c.Gateways.MaxEntries, Octets: int64(c.Gateways.MaxListing), Line: maxGatewayLine,
		},
		// Connections that wait must not have all that there may be: those of the web have at most half.
		mayWait: c.Limits.Outgoing / 8,
	}
	handlers := make(scheme.Mux)
	for _, g := range gateways(c) {
		if !g.Enabled {
			continue
		}
		handler, err := g.make(parts)
		if err != nil {
			return nil, err
		}
		if pooled, ok := handler.(interface{ Close() }); ok {
			s.closers = append(s.closers, pooled.Close)
		}
		for _, name := range g.Names {
			handlers[name] = scheme.Gateway{Handler: handler, Info: g.Info}
		}
	}
	for _, g := range c.Gateways.Templates {
		name := strings.ToLower(g.Scheme)
		handlers[name] = scheme.Gateway{
			Handler: template.New(template.Config{Template: g.Template}),
			Info:    scheme.Info{Names: []string{name}, Enabled: true, Ports: anyPort(), Local: true},
		}
	}
	return handlers, nil
}

func newFTP(p gatewayParts) (scheme.Handler, error) {
	c, ports := p.config.FTP, gatewayPorts(p.config.Gateways)
	return ftp.New(ftp.Config{
		Dial: p.dial, Limits: p.limits, Now: p.now, Anonymous: c.Anonymous, Login: c.Login, TLS: ftpTLS()[c.TLS],
		// Each request needs two connections at a time.
		MaxIdle: min(c.MaxIdle, p.mayWait), Idle: c.Idle, MaxFetches: max(p.config.Limits.Outgoing/2, 1),
		DataPort: func(port uint16) error { return ports.CheckPort("ftp", port) },
	}), nil
}

// ftpTLS are the values of ftp.tls.
func ftpTLS() map[string]ftp.TLS {
	return map[string]ftp.TLS{"never": ftp.TLSNever, "offered": ftp.TLSOffered, "required": ftp.TLSRequired}
}

func newGopher(p gatewayParts) (scheme.Handler, error) {
	return gopher.New(gopher.Config{Dial: p.dial, Limits: p.limits}), nil
}

func newNews(p gatewayParts) (scheme.Handler, error) {
	c := p.config.News
	settings := nntp.Config{
		Dial: p.dial, Limits: p.limits, Now: p.now, MaxIdle: min(c.MaxIdle, p.mayWait), Idle: c.Idle, Page: c.Page,
	}
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

func newWAIS(p gatewayParts) (scheme.Handler, error) {
	return wais.New(wais.Config{Dial: p.dial, Limits: p.limits, Records: p.config.WAIS.Records}), nil
}

func newFile(p gatewayParts) (scheme.Handler, error) {
	return file.New(file.Config{Roots: p.config.File.Roots, Limits: p.limits, Now: p.now}), nil
}

func newExplained(p gatewayParts) (scheme.Handler, error) {
	return explain.New(explain.Config{Ports: gatewayPorts(p.config.Gateways), ServiceAt: gatewayInfos(p.config).ServiceAt}), nil
}
