package main

import (
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/scheme"
)

// gateway is a protocol gateway: what the rest of urnd must know of it, and what makes its handler.
type gateway struct {
	scheme.Info
	make func(gatewayParts) (scheme.Handler, error)
}

// gateways returns the protocol gateways: a new one is a row.
func gateways(c config.Config) []gateway {
	ports := gatewayPorts(c.Gateways)
	return []gateway{
		{scheme.Info{
			Names: []string{"ftp"}, Noun: "file or directory", Service: "file transfer (FTP)", OtherPorts: []uint16{20, 989, 990},
			Setting: "ftp.enabled", Enabled: c.FTP.Enabled, Ports: ports, Stored: true, Browsable: true,
		}, newFTP},
		{scheme.Info{
			Names: []string{"gopher"}, Noun: "document or menu", Service: "gopher",
			Setting: "gopher.enabled", Enabled: c.Gopher.Enabled, Ports: ports, Stored: true, Browsable: true,
		}, newGopher},
		{scheme.Info{
			Names: []string{"news", "nntp"}, Noun: "article or newsgroup", Service: "news (NNTP)", OtherPorts: []uint16{433, 563},
			Setting: "news.enabled", Enabled: c.News.Enabled, Ports: ports, Stored: true, Browsable: true,
		}, newNews},
		{scheme.Info{
			Names: []string{"wais", "z39.50r", "z39.50s"}, Noun: "document or database", Service: "library catalogues (Z39.50)",
			Setting: "wais.enabled", Enabled: c.WAIS.Enabled, Ports: ports, Stored: true, Browsable: true,
		}, newWAIS},
		{scheme.Info{
			Names: []string{"file"}, Noun: "file or directory",
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
	return scheme.Ports{Allow: tunnelPort(c.AllowPorts), Deny: tunnelPort(c.DenyPorts)}
}

func anyPort() scheme.Ports {
	return scheme.Ports{Allow: func(uint16) bool { return true }}
}
