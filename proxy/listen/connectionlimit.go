package listen

import (
	"net/netip"
	"time"

	"github.com/urnd/urnd/internal/quota"
)

// ConnectionLimits are the limits of connections of clients.
type ConnectionLimits struct {
	Connections       int // in total
	ClientConnections int // of one address; 0 is no limit
	// NetworkConnections limits those of all addresses of a /64 network of IPv6; 0 is no limit.
	NetworkConnections int
	// Exempt are clients without a limit of their own: proxies, which have many clients.
	Exempt []netip.Prefix
}

func (l ConnectionLimits) pool() quota.PoolLimits {
	return quota.PoolLimits{
		Total: l.Connections, PerAddress: l.ClientConnections, PerNetwork: l.NetworkConnections, Exempt: l.Exempt,
	}
}

// ConnectionLimit counts connections, and enforces limits that can be changed. At a limit, an idle connection
// is closed for a new one (RFC 9112 section 9.6): see quota.Pool. It is safe for concurrent use.
type ConnectionLimit struct{ pool *quota.Pool }

// NewConnectionLimit returns a ConnectionLimit without connections.
func NewConnectionLimit(limits ConnectionLimits, now func() time.Time) *ConnectionLimit {
	return &ConnectionLimit{quota.NewPool(limits.pool(), now)}
}

// SetLimits sets new limits; open connections stay open.
func (l *ConnectionLimit) SetLimits(limits ConnectionLimits) { l.pool.Change(limits.pool()) }

// Connections returns the number of connections.
func (l *ConnectionLimit) Connections() int { return l.pool.Len() }

// add counts a connection of a client, and waits until the total allows it, or until done is closed. It
// returns false if the client, or its network, has too many connections in use.
func (l *ConnectionLimit) add(c *clientConn, client netip.Addr, done <-chan struct{}) (ok bool) {
	if l == nil {
		return true
	}
	c.member = l.pool.Add(client, c, done)
	return c.member != nil
}
