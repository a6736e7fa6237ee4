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

// SystemConfig is the configuration of a SystemClient. All fields must be set.
type SystemConfig struct {
	Path string // of the file with the servers, such as /etc/resolv.conf
	// Make returns a client for the servers; the list may be empty.
	Make func(servers []netip.AddrPort) *Client
	Now  func() time.Time
}

// SystemClient is a client for the DNS servers of the system. It follows changes of resolv.conf, for example
// when a network comes up or is replaced. It is safe for concurrent use.
type SystemClient struct {
	config SystemConfig

	mu      sync.Mutex
	client  *Client
	version string // modification time and size of the file
	checked time.Time
}

// systemInterval is the least interval between checks of the file.
const systemInterval = 5 * time.Second

// NewSystemClient returns a SystemClient.
func NewSystemClient(config SystemConfig) *SystemClient { return &SystemClient{config: config} }

// current returns the client for the current servers.
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
		s.client.Close() // cancels its background queries; others end by themselves
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

// Avoided returns the silent servers: see Client.Avoided.
func (s *SystemClient) Avoided() []resolver.Avoided { return s.current().Avoided() }

// Close cancels the queries in the background, and waits for them.
func (s *SystemClient) Close() { s.current().Close() }

// SystemServers returns the servers in a resolv.conf file, or none if it cannot be read.
func SystemServers(path string) []netip.AddrPort {
	system, err := ReadSystem(path)
	if err != nil {
		return nil // a system without DNS has no servers
	}
	var servers []netip.AddrPort
	for _, text := range system.Servers {
		if server, err := netip.ParseAddrPort(text); err == nil { // invalid lines are skipped, as in libc
			servers = append(servers, server)
		}
	}
	return servers
}
