//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
)

// place contains the variables of the configuration templates. Addresses include ports.
type place struct {
	Dir              string // an empty folder, on tmpfs if available
	Forward, Gateway string // listening addresses
	Secure           string // like Gateway with TLS, certificate and key in tls.pem
	Store            string // file of the registry; "" if no row needs it
	Origin           string
	FTP              string // FTP server; "" for none
	Source, Sink     string // ends of tunnels
	Host             string // host of the gateway
	Name, Location   string // name to redirect, and its target
	Admin            string // listening address of the admin interface, if any
	Processors       int    // number available to the server
	With             feature
	Parents          []string // parents of a server with a feature
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

// freePorts returns n different loopback addresses with free ports. If another process takes one before the
// server does, the server fails to start.
func freePorts(ctx context.Context, n int) ([]string, error) {
	var addresses []string
	for range n {
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		defer func() { _ = l.Close() }() // it has accepted no connections
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
