package ddds

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
)

// Dial opens a connection to a DNS server; network is "udp" or "tcp".
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Server is a DNS server.
type Server struct {
	Address string // with port
	TLS     bool   // DNS over TLS, RFC 7858
	Name    string // name in its certificate; "" means the address
}

func (s Server) String() string {
	if !s.TLS {
		return s.Address
	}
	return "tls://" + s.Address
}

// ClientConfig is the configuration of a Client. Servers, Dial, Timeout and Now must be set.
type ClientConfig struct {
	Servers []Server // in the order of queries
	Dial    Dial
	// RootCAs verify servers over TLS; nil means the system pool.
	RootCAs *x509.CertPool
	// HedgeAfter is the delay after which another server is queried in parallel; 0 waits for Timeout.
	HedgeAfter time.Duration
	// RequireAD rejects replies without the AD bit (RFC 4035 section 3.2.3). The server and the connection to
	// it must be trusted.
	RequireAD bool
	// Timeout is the timeout of one query to one server.
	Timeout time.Duration
	// Rounds is the number of attempts at each server, at least 1.
	Rounds int
	// Backoff is how long a silent server is not queried; 0 disables it.
	Backoff time.Duration
	Now     func() time.Time
	// MixCase randomizes the letter case of query names for servers that preserve it.
	MixCase bool
	// Concurrency limits the concurrent queries; further queries wait. nil means no limit.
	Concurrency quota.Semaphore
	// Observe is called after each query to a server; it may be nil.
	Observe func(Exchange)
	// Panicked is called with the value and the stack of a panic during the processing of a reply, which then
	// counts as a failure; it may be nil.
	Panicked func(value any, stack []byte)
}

// Exchange is the outcome of one query to one server.
type Exchange struct {
	Server string
	Type   string // record type, such as "NAPTR"
	Rcode  string // RCODE of the reply; "timeout", "error" or "canceled" without a reply
	Took   time.Duration
}

// Client is a Lookuper and an AddressLookuper that queries DNS servers. It is a stub resolver (RFC 1034 section
// 5.3.1): it does not follow referrals. It is safe for concurrent use. The caller must close it.
type Client struct {
	config  ClientConfig
	servers []*server
	probes  probes
	buffers sync.Pool // of *[udpSize]byte, for replies over UDP
}

// NewClient returns a Client.
func NewClient(config ClientConfig) *Client {
	c := &Client{config: config}
	c.buffers.New = func() any { return new([udpSize]byte) }
	for _, s := range config.Servers {
		c.servers = append(c.servers, &server{Server: s})
	}
	return c
}

// Close cancels the queries in the background, and waits for them.
func (c *Client) Close() { c.probes.close() }

// System is the content of resolv.conf.
type System struct {
	Servers []string // addresses with port
	Search  []string // domains for names of one label
}

// ReadSystem reads a resolv.conf file, which may list no servers.
func ReadSystem(path string) (System, error) {
	config, err := dns.ClientConfigFromFile(path)
	if err != nil {
		return System{}, fmt.Errorf("reading DNS servers: %w", err)
	}
	system := System{Search: config.Search}
	for _, server := range config.Servers {
		system.Servers = append(system.Servers, net.JoinHostPort(server, config.Port))
	}
	return system, nil
}

// NAPTR implements Lookuper.
func (c *Client) NAPTR(ctx context.Context, name string) ([]NAPTR, RRsetInfo, error) {
	return lookup(ctx, c, name, dns.TypeNAPTR, func(rr *dns.NAPTR) NAPTR {
		return NAPTR{
			Order: rr.Order, Preference: rr.Preference,
			Flags: unescape(rr.Flags), Services: unescape(rr.Service), Regexp: unescape(rr.Regexp),
			Replacement: rr.Replacement,
		}
	})
}

// SRV implements Lookuper.
func (c *Client) SRV(ctx context.Context, name string) ([]SRV, RRsetInfo, error) {
	return lookup(ctx, c, name, dns.TypeSRV, func(rr *dns.SRV) SRV {
		return SRV{
			Priority: rr.Priority, Weight: rr.Weight, Port: rr.Port,
			Target: dns.CanonicalName(rr.Target),
		} // with name compression it may have the case of the question
	})
}

// Addresses implements AddressLookuper.
func (c *Client) Addresses(ctx context.Context, name string, family Family) ([]netip.Addr, RRsetInfo, error) {
	if family == IPv6 {
		return lookup(ctx, c, name, dns.TypeAAAA, func(rr *dns.AAAA) netip.Addr { return addrOf(rr.AAAA) })
	}
	return lookup(ctx, c, name, dns.TypeA, func(rr *dns.A) netip.Addr { return addrOf(rr.A) })
}

// addrOf converts an address of the library, whose IPv4 addresses may have 16 bytes.
func addrOf(ip net.IP) netip.Addr {
	addr, _ := netip.AddrFromSlice(ip)
	return addr.Unmap()
}

// lookup queries records of one type: R in the library, T in this package.
func lookup[R dns.RR, T any](
	ctx context.Context, c *Client, name string, rrtype uint16, convert func(R) T,
) ([]T, RRsetInfo, error) {
	name = dns.CanonicalName(name)
	reply, err := c.query(ctx, name, rrtype)
	if err != nil {
		return nil, RRsetInfo{},
			&resolver.DNSError{Err: fmt.Errorf("querying %s %s: %w", name, dns.TypeToString[rrtype], err)}
	}
	owner, ttl, _ := followAliases(reply, name)
	var records []T
	for _, rr := range reply.Answer {
		record, ok := rr.(R)
		if !ok || rr.Header().Class != dns.ClassINET || !strings.EqualFold(rr.Header().Name, owner) {
			continue
		}
		records = append(records, convert(record))
		ttl = min(ttl, seconds(rr.Header().Ttl))
	}
	if len(records) > 0 {
		return records, RRsetInfo{TTL: ttl, Authentic: reply.AuthenticatedData}, nil
	}
	none := &resolver.Negative{
		Kind: resolver.ErrNotFound, Reason: fmt.Sprintf("%s has no %s records", name, dns.TypeToString[rrtype]),
		Code: "dns_no_records", Values: []string{"Domain", name}, TTL: min(ttl, negativeTTL(reply)),
	}
	if reply.Rcode == dns.RcodeNameError {
		none.Reason, none.Code = name+" does not exist (NXDOMAIN)", "dns_no_domain"
	}
	return nil, RRsetInfo{}, none
}

// maxTTL is the largest TTL: RFC 2181 section 8.
const maxTTL = time.Duration(1<<31-1) * time.Second

// seconds converts a TTL; a TTL with the most significant bit set is zero (RFC 2181 section 8).
func seconds(ttl uint32) time.Duration {
	if ttl > 1<<31-1 {
		return 0
	}
	return time.Duration(ttl) * time.Second
}

// negativeTTL returns the TTL of a negative answer (RFC 2308 section 5): the lesser of the TTL of the SOA
// record and its minimum field. Without an SOA record it must not be cached.
func negativeTTL(reply *dns.Msg) time.Duration {
	for _, rr := range reply.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			return min(seconds(soa.Hdr.Ttl), seconds(soa.Minttl))
		}
	}
	return 0
}

// errNoServers means that a client has no servers.
var errNoServers = errors.New("no DNS server configured")
