package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/urnd/urnd/config"
)

// The names of endpoints, which are those of systemd's sockets too.
const (
	nameHTTP  = "http"
	nameHTTPS = "https"
	nameAdmin = "admin"
)

// plan is an endpoint as a configuration has it.
type plan struct {
	name     string
	address  string // "" where systemd has opened it
	settings serverSettings
	handler  http.Handler
}

// serverSettings are those for which a server is replaced by another one when they
// change.
type serverSettings struct {
	target, header                        config.Size
	headerTimeout, idleTimeout, drainTime time.Duration
	tls                                   config.TLS // the zero value is no TLS
	authorities                           string     // how the file of tls.client_ca is
	senders                               string     // of the PROXY protocol
}

// modified tells a file that the configuration names from what it was before, as far as
// can be told from outside; "" is that it is not there.
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

// plans returns the endpoints of a configuration. Those that systemd has opened take
// the place of addresses.
func plans(c config.Config, inherited map[string][]net.Listener, service, admin http.Handler) []plan {
	plain := serverSettings{
		target: c.Limits.Target, header: c.Limits.Header,
		headerTimeout: c.Limits.HeaderTimeout, idleTimeout: c.Limits.IdleTimeout, drainTime: c.Limits.ShutdownTimeout,
	}
	clients := plain
	clients.senders = fmt.Sprint(c.Listen.ProxyProtocol)
	secure := clients
	secure.tls = config.TLS{Certificate: c.TLS.Certificate, Key: c.TLS.Key}
	administrators := plain
	if c.TLS.ClientCA != "" {
		administrators.tls, administrators.authorities = c.TLS, modified("tls.client_ca", c.TLS.ClientCA)
	}
	all := []plan{
		{nameHTTP, c.Listen.Service, clients, service},
		{nameHTTPS, c.Listen.TLS, secure, service},
		{nameAdmin, c.Listen.Admin, administrators, admin},
	}
	for i := range all {
		if len(inherited[all[i].name]) > 0 {
			all[i].address = ""
		} else if all[i].address == "" {
			all[i].name = "" // it is turned off
		}
	}
	return slices.DeleteFunc(all, func(p plan) bool { return p.name == "" })
}
