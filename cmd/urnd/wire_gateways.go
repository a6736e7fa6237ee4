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

// gateway is a protocol gateway: what the rest of urnd must know of it, and what makes its handler.
type gateway struct {
	scheme.Info
	make func(gatewayParts) (scheme.Handler, error)
}

// gateways returns the protocol gateways: a new one is a row.
func gateways(c config.Config) []gateway {
	const enabled = "gateways.enabled"
	ports := gatewayPorts(c.Gateways)
	return []gateway{
		{scheme.Info{
			Names: []string{"ftp"}, Noun: "file", Service: "file transfer (FTP)", OtherPorts: []uint16{20, 989, 990},
			Setting: enabled, Enabled: c.Gateways.Has(config.ProtocolFTP), Ports: ports, Stored: true, Browsable: true,
		}, newFTP},
		{scheme.Info{
			Names: []string{"gopher"}, Noun: "menu", Service: "gopher",
			Setting: enabled, Enabled: c.Gateways.Has(config.ProtocolGopher), Ports: ports, Stored: true, Browsable: true,
		}, newGopher},
		{scheme.Info{
			Names: []string{"news", "nntp"}, Noun: "article", Service: "news (NNTP)", OtherPorts: []uint16{433, 563},
			Setting: enabled, Enabled: c.Gateways.Has(config.ProtocolNews), Ports: ports, Stored: true, Browsable: true,
		}, newNews},
		{scheme.Info{
			Names: []string{"wais", "z39.50r", "z39.50s"}, Noun: "record", Service: "library catalogues (Z39.50)",
			Setting: enabled, Enabled: c.Gateways.Has(config.ProtocolWAIS), Ports: ports, Stored: true, Browsable: true,
		}, newWAIS},
		{scheme.Info{
			Names: []string{"file"}, Noun: "file",
			Setting: "file.roots", Enabled: true, Local: true, Stored: true, Browsable: true,
		}, newFile},
		{explained(true, "remote sessions (telnet)", "telnet", "tn3270"), newExplained},
		{explained(true, "Prospero", "prospero"), newExplained},
		{explained(true, "", "rlogin", "ftps", "gemini"), newExplained},
		{explained(false, "", "mailto"), newExplained}, // browsers know programs for mail
	}
}

// explained returns the Info of schemes of which nothing is retrieved. A page that warns of a port says more than a refusal, so
// they may name any.
func explained(isBrowsable bool, service string, names ...string) scheme.Info {
	return scheme.Info{
		Names: names, Service: service, Enabled: true, Ports: anyPort(), Local: true, Stored: true, Browsable: isBrowsable,
	}
}

// gatewayInfos returns what the rest of urnd must know of the protocol gateways.
func gatewayInfos(c config.Config) scheme.Infos {
	var all scheme.Infos
	for _, g := range gateways(c) {
		all = append(all, g.Info)
	}
	return all
}

// gatewayPorts returns which ports a URL may name.
func gatewayPorts(c config.Gateways) scheme.Ports {
	return scheme.Ports{Allow: config.InRanges(c.AllowPorts), Deny: config.InRanges(c.DenyPorts)}
}

func anyPort() scheme.Ports {
	return scheme.Ports{Allow: func(uint16) bool { return true }}
}

// maxGatewayLine bounds a line of a listing, in octets. That of an overview of news is the longest: it
// has the references of an article, of which RFC 5536 sets no bound.
const maxGatewayLine = 64 << 10

// The bounds of what a page shows. gateways.max_listing bounds a listing in bytes, which is what it costs.
const (
	maxEntries  = 10_000 // of a listing: a browser shows no more in a reasonable time
	newsPage    = 100    // articles of a group
	waisRecords = 50     // of a result, each of which is fetched
)

// gatewayParts is what handlers of protocol gateways are made of.
type gatewayParts struct {
	config  config.Config
	dial    scheme.Dial
	limits  scheme.Limits
	now     func() time.Time
	maxIdle int // how many connections of a protocol may wait for the next request
}

// newGateways returns the handlers of the schemes other than http and https.
func newGateways(s *service, c config.Config, r *resolution, d dependencies) (scheme.Mux, error) {
	guard := r.guard.Bounded(r.limits.outgoing)
	parts := gatewayParts{
		config: c, now: d.now,
		dial: func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
			return guard.With(check).WithIdleTimeout(c.Limits.OriginIdle)(ctx, network, address)
		},
		limits: scheme.Limits{
			Timeout: c.Gateways.Timeout, Entries: maxEntries, Octets: int64(c.Gateways.MaxListing), Line: maxGatewayLine,
		},
		// Connections that wait must not have all that there may be: those of the web have at most half.
		maxIdle: min(c.Gateways.MaxIdle, c.Limits.Outgoing/8),
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
		MaxIdle: p.maxIdle, Idle: p.config.Gateways.Idle, MaxFetches: max(p.config.Limits.Outgoing/2, 1),
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
		Dial: p.dial, Limits: p.limits, Now: p.now, MaxIdle: p.maxIdle, Idle: p.config.Gateways.Idle, Page: newsPage,
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
	return wais.New(wais.Config{Dial: p.dial, Limits: p.limits, Records: waisRecords}), nil
}

func newFile(p gatewayParts) (scheme.Handler, error) {
	return file.New(file.Config{Roots: p.config.File.Roots, Limits: p.limits, Now: p.now}), nil
}

func newExplained(p gatewayParts) (scheme.Handler, error) {
	return explain.New(explain.Config{Ports: gatewayPorts(p.config.Gateways), ServiceAt: gatewayInfos(p.config).ServiceAt}), nil
}
