//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
)

// place is what the configuration of a server depends on; its fields are the variables of
// the templates. Addresses have ports.
type place struct {
	Dir              string // an empty folder, on tmpfs if there is one
	Forward, Gateway string // where to listen
	Secure           string // the same as Gateway, by TLS with the certificate and key in tls.pem
	Store            string // the file of the registry; "" where no row needs it
	Origin           string
	FTP              string // the FTP server; "" where there is none
	Source, Sink     string // the ends of tunnels
	Host             string // the host of the gateway
	Name, Location   string // the name to redirect, and where to
	Admin            string // where a server that has one has its admin interface
	Processors       int    // which the server may use
	With             feature
	Parents          []string // the proxies that a server with a feature asks
}

func (p place) ForwardPort() string { return port(p.Forward) }
func (p place) SecurePort() string  { return port(p.Secure) }
func (p place) GatewayPort() string { return port(p.Gateway) }
func (p place) OriginHost() string  { return "127.0.0.1" }
func (p place) OriginPort() string  { return port(p.Origin) }
func (p place) SourcePort() string  { return port(p.Source) }
func (p place) SinkPort() string    { return port(p.Sink) }
func (p place) List() string        { return listFile(p.Dir) }

// ParentPorts returns the ports of Parents, which are on 127.0.0.1.
func (p place) ParentPorts() (ports []string) {
	for _, parent := range p.Parents {
		ports = append(ports, port(parent))
	}
	return ports
}

func port(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return port
}

// freePorts returns n different loopback addresses whose ports are free. Another process
// may take one before the server does: then the server fails to start.
func freePorts(ctx context.Context, n int) ([]string, error) {
	var addresses []string
	for range n {
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		defer func() { _ = l.Close() }() // it has accepted nothing
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
