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

// gateway is a protocol gateway: its metadata, and the constructor of its handler.
type gateway struct {
	scheme.Info
	make func(gatewayParts) (scheme.Handler, error)
}

// gateways returns the protocol gateways, one per row.
func gateways(c config.Config) []gateway {
	const enabled = "gateways.enabled"
	ports := gatewayPorts(c.Gateways)
	return []gateway{
		{scheme.Info{
			Names: []string{"ftp"}, Noun: "file", Service: "file transfer (FTP)", OtherPorts: []uint16{20, 989, 990},
			Setting: enabled, Enabled: c.Gateways.Has(config.ProtocolFTP), Ports: ports, Cacheable: true,
			Browsable: true,
		}, newFTP},
		{scheme.Info{
			Names: []string{"gopher"}, Noun: "menu", Service: "gopher",
			Setting: enabled, Enabled: c.Gateways.Has(config.ProtocolGopher), Ports: ports, Cacheable: true,
			Browsable: true,
		}, newGopher},
		{scheme.Info{
			Names: []string{"news", "nntp"}, Noun: "article", Service: "news (NNTP)", OtherPorts: []uint16{433, 563},
			Setting: enabled, Enabled: c.Gateways.Has(config.ProtocolNews), Ports: ports, Cacheable: true,
			Browsable: true,
		}, newNews},
		{scheme.Info{
			Names: []string{"wais", "z39.50r", "z39.50s"}, Noun: "record", Service: "library catalogues (Z39.50)",
			Setting: enabled, Enabled: c.Gateways.Has(config.ProtocolWAIS), Ports: ports, Cacheable: true,
			Browsable: true,
		}, newWAIS},
		{scheme.Info{
			Names: []string{"file"}, Noun: "file",
			Setting: "file.roots", Enabled: true, Local: true, Cacheable: true, Browsable: true,
		}, newFile},
		{explained(true, "remote sessions (telnet)", "telnet", "tn3270"), newExplained},
		{explained(true, "Prospero", "prospero"), newExplained},
		{explained(true, "", "rlogin", "ftps", "gemini"), newExplained},
		{explained(false, "", "mailto"), newExplained}, // browsers have programs for mail
	}
}

// explained returns the Info of schemes that are only explained, not retrieved. Any port is allowed, since a
// page that warns of a port is more useful than an error.
func explained(browsable bool, service string, names ...string) scheme.Info {
	return scheme.Info{
		Names: names, Service: service, Enabled: true, Ports: anyPort(), Local: true, Cacheable: true,
		Browsable: browsable,
	}
}

// gatewayInfos returns the metadata of the protocol gateways.
func gatewayInfos(c config.Config) scheme.Infos {
	var all scheme.Infos
	for _, g := range gateways(c) {
		all = append(all, g.Info)
	}
	return all
}

// gatewayPorts returns the ports that a URL may contain.
func gatewayPorts(c config.Gateways) scheme.Ports {
	return scheme.Ports{Allow: config.InRanges(c.AllowPorts), Deny: config.InRanges(c.DenyPorts)}
}

func anyPort() scheme.Ports {
	return scheme.Ports{Allow: func(uint16) bool { return true }}
}

// maxGatewayLine limits a line of a listing, in bytes. The longest is that of a news overview: it contains
// the references of an article, which RFC 5536 does not limit.
const maxGatewayLine = 64 << 10

// Limits of a page. gateways.max_listing limits a listing in bytes, which determine its cost.
const (
	maxEntries  = 10_000 // of a listing: browsers cannot show more in reasonable time
	newsPage    = 100    // articles of a group
	waisRecords = 50     // of a result, each of which is fetched
)

// gatewayParts are the dependencies of the handlers of protocol gateways.
type gatewayParts struct {
	config  config.Config
	dial    scheme.Dial
	limits  scheme.Limits
	now     func() time.Time
	maxIdle int // idle connections of a protocol
}

// newGateways returns the handlers of the schemes other than http and https.
func newGateways(s *service, c config.Config, r *resolution, d dependencies) (scheme.Mux, error) {
	guard := r.guard.WithLimiter(r.limits.outgoing)
	parts := gatewayParts{
		config: c, now: d.now,
		dial: func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
			return guard.WithCheck(check).WithIdleTimeout(c.Limits.OriginIdle)(ctx, network, address)
		},
		limits: scheme.Limits{
			Timeout: c.Gateways.Timeout, Entries: maxEntries, Bytes: int64(c.Gateways.MaxListing), Line: maxGatewayLine,
		},
		// Idle connections must not use the whole limit: those of HTTP use at most half of it.
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
		Dial: p.dial, Limits: p.limits, Now: p.now, Anonymous: c.Anonymous, AllowLogin: c.Login, TLS: ftpTLS()[c.TLS],
		// Each request uses two connections.
		MaxIdle: p.maxIdle, IdleTimeout: p.config.Gateways.Idle, MaxFetches: max(p.config.Limits.Outgoing/2, 1),
		DataPort: func(port uint16) error { return ports.CheckPort("ftp", port) },
	}), nil
}

// ftpTLS returns the values of ftp.tls.
func ftpTLS() map[string]ftp.TLS {
	return map[string]ftp.TLS{"never": ftp.TLSNever, "offered": ftp.TLSOffered, "required": ftp.TLSRequired}
}

func newGopher(p gatewayParts) (scheme.Handler, error) {
	return gopher.New(gopher.Config{Dial: p.dial, Limits: p.limits}), nil
}

func newNews(p gatewayParts) (scheme.Handler, error) {
	c := p.config.News
	settings := nntp.Config{
		Dial: p.dial, Limits: p.limits, Now: p.now, MaxIdle: p.maxIdle, IdleTimeout: p.config.Gateways.Idle,
		PageSize: newsPage,
	}
	for _, server := range c.Servers {
		address, tls := strings.CutPrefix(server, "tls://")
		settings.Servers = append(settings.Servers, nntp.Server{Address: address, TLS: tls})
	}
	if c.Login != "" {
		text, err := secret.Read("news.login", c.Login)
		if err != nil {
			return nil, err
		}
		user, password, ok := strings.Cut(string(bytes.TrimSpace(text)), ":")
		if !ok {
			return nil, fmt.Errorf("news.login: the file must contain the user, a colon and the password")
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
	return explain.New(explain.Config{
		Ports:     gatewayPorts(p.config.Gateways),
		ServiceAt: gatewayInfos(p.config).ServiceAt,
	}), nil
}
