package netguard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// attemptDelay is how long a connection may take before the next address is tried in
// parallel: RFC 8305 section 5, Connection Attempt Delay.
const attemptDelay = 250 * time.Millisecond

// maxAttempts bounds the addresses of one host that are tried.
const maxAttempts = 16

// attempt is the outcome of connecting to one address.
type attempt struct {
	conn net.Conn
	err  error
}

// race connects to addresses in order, to the next one when one fails, and in parallel when
// one is slow. The first connection wins, and the others are closed: RFC 8305 section 5.
func (g *Guard) race(ctx context.Context, network string, addrs []netip.AddrPort) (net.Conn, error) {
	addrs = addrs[:min(len(addrs), maxAttempts)]
	if len(addrs) == 1 { // all that are addresses, such as DNS servers
		return g.dial(ctx, network, addrs[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	attempts := make(chan attempt)
	started, ended := 0, 0
	defer func() {
		cancel()
		for ; ended < started; ended++ {
			if a := <-attempts; a.conn != nil {
				_ = a.conn.Close()
			}
		}
	}()
	delay := time.NewTicker(attemptDelay)
	defer delay.Stop()
	start := func() {
		addr := addrs[started]
		started++
		delay.Reset(attemptDelay)
		go func() {
			conn, err := g.dial(ctx, network, addr)
			attempts <- attempt{conn, err}
		}()
	}
	var fault error
	for started < len(addrs) || ended < started {
		if ended == started {
			start()
		}
		select {
		case a := <-attempts:
			ended++
			if a.err == nil {
				return a.conn, nil
			}
			fault = join(fault, a.err)
			if started < len(addrs) {
				start()
			}
		case <-delay.C:
			if started < len(addrs) {
				start()
			}
		}
	}
	if fault == nil {
		return nil, errNoAddress
	}
	return nil, fault
}

// dial connects to one address.
func (g *Guard) dial(ctx context.Context, network string, addr netip.AddrPort) (net.Conn, error) {
	dialer := net.Dialer{Control: g.control}
	return dialer.DialContext(ctx, network, addr.String())
}

// join returns both errors in one line.
func join(a, b error) error {
	if a == nil {
		return b
	}
	return fmt.Errorf("%w; %w", a, b)
}

// errNoAddress means that a lookup returned no address, and no error.
var errNoAddress = fmt.Errorf("%w: it has no address", ErrLookup)
