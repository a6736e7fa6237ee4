package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/ddds"
)

// dnsClient looks up all records, and the addresses of hosts.
type dnsClient interface {
	ddds.Lookuper
	ddds.AddressLookuper
}

// systemDNS is a client for the DNS servers of the system: a network that comes up later, or
// another one, changes them. It is safe for concurrent use.
type systemDNS struct {
	path string
	make func(servers []config.Server) *ddds.Client
	now  func() time.Time

	mu      sync.Mutex
	client  *ddds.Client
	version string // of the file
	checked time.Time
}

// systemInterval is how often the file of servers may be looked at.
const systemInterval = 5 * time.Second

// current returns the client for the present servers.
func (s *systemDNS) current() *ddds.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.client != nil && now.Sub(s.checked) < systemInterval {
		return s.client
	}
	s.checked = now
	version := ""
	if info, err := os.Stat(s.path); err == nil {
		version = fmt.Sprint(info.ModTime(), info.Size())
	}
	if s.client != nil && version == s.version {
		return s.client
	}
	if s.client != nil {
		s.client.Close() // its queries end by themselves
	}
	s.client, s.version = s.make(systemServers(s.path)), version
	return s.client
}

// NAPTR implements ddds.Lookuper.
func (s *systemDNS) NAPTR(ctx context.Context, name string) ([]ddds.NAPTR, ddds.RRsetInfo, error) {
	return s.current().NAPTR(ctx, name)
}

// SRV implements ddds.Lookuper.
func (s *systemDNS) SRV(ctx context.Context, name string) ([]ddds.SRV, ddds.RRsetInfo, error) {
	return s.current().SRV(ctx, name)
}

// Addresses implements ddds.AddressLookuper.
func (s *systemDNS) Addresses(ctx context.Context, name string, family ddds.Family) ([]netip.Addr, ddds.RRsetInfo, error) {
	return s.current().Addresses(ctx, name, family)
}

// Close ends the queries in the background.
func (s *systemDNS) Close() { s.current().Close() }

// systemServers returns the servers in a resolv.conf file.
func systemServers(path string) []config.Server {
	system, err := ddds.ReadSystem(path)
	if err != nil {
		return nil // a system without DNS has no servers
	}
	var servers []config.Server
	for _, text := range system.Servers {
		if server, err := netip.ParseAddrPort(text); err == nil { // invalid lines are skipped, as libc does
			servers = append(servers, config.Server{AddrPort: server})
		}
	}
	return servers
}
