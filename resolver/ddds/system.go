package ddds

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver"
)

// SystemConfig configures a SystemClient. All fields must be set.
type SystemConfig struct {
	Path string // of the file that names the servers, as /etc/resolv.conf
	// Make makes a client for the servers, which may be none.
	Make func(servers []netip.AddrPort) *Client
	Now  func() time.Time
}

// SystemClient is a client for the DNS servers of the system: a network that comes up later, or
// another one, changes them. It is safe for concurrent use.
type SystemClient struct {
	config SystemConfig

	mu      sync.Mutex
	client  *Client
	version string // of the file
	checked time.Time
}

// systemInterval is how often the file of servers may be looked at.
const systemInterval = 5 * time.Second

// NewSystemClient returns a client.
func NewSystemClient(config SystemConfig) *SystemClient { return &SystemClient{config: config} }

// current returns the client for the present servers.
func (s *SystemClient) current() *Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.config.Now()
	if s.client != nil && now.Sub(s.checked) < systemInterval {
		return s.client
	}
	s.checked = now
	version := ""
	if info, err := os.Stat(s.config.Path); err == nil {
		version = fmt.Sprint(info.ModTime(), info.Size())
	}
	if s.client != nil && version == s.version {
		return s.client
	}
	if s.client != nil {
		s.client.Close() // its queries end by themselves
	}
	s.client, s.version = s.config.Make(SystemServers(s.config.Path)), version
	return s.client
}

// NAPTR implements Lookuper.
func (s *SystemClient) NAPTR(ctx context.Context, name string) ([]NAPTR, RRsetInfo, error) {
	return s.current().NAPTR(ctx, name)
}

// SRV implements Lookuper.
func (s *SystemClient) SRV(ctx context.Context, name string) ([]SRV, RRsetInfo, error) {
	return s.current().SRV(ctx, name)
}

// Addresses implements AddressLookuper.
func (s *SystemClient) Addresses(ctx context.Context, name string, family Family) ([]netip.Addr, RRsetInfo, error) {
	return s.current().Addresses(ctx, name, family)
}

// Avoided returns the servers that are silent, as that of a Client.
func (s *SystemClient) Avoided() []resolver.Avoided { return s.current().Avoided() }

// Close ends the queries in the background.
func (s *SystemClient) Close() { s.current().Close() }

// SystemServers returns the servers in a file as resolv.conf, none where it cannot be read.
func SystemServers(path string) []netip.AddrPort {
	system, err := ReadSystem(path)
	if err != nil {
		return nil // a system without DNS has no servers
	}
	var servers []netip.AddrPort
	for _, text := range system.Servers {
		if server, err := netip.ParseAddrPort(text); err == nil { // invalid lines are skipped, as libc does
			servers = append(servers, server)
		}
	}
	return servers
}
