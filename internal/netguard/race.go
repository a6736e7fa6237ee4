package netguard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// attemptDelay is the Connection Attempt Delay of RFC 8305 section 5.
const attemptDelay = 250 * time.Millisecond

// maxAttempts limits the number of addresses of a host that are tried.
const maxAttempts = 16

// attempt is the result of connecting to one address.
type attempt struct {
	conn net.Conn
	err  error
}

// race connects to the addresses in order. It starts the next attempt when one fails, or in parallel after
// attemptDelay. The first connection is returned and the others are closed: RFC 8305 section 5.
func (g *Guard) race(ctx context.Context, network string, addrs []netip.AddrPort) (net.Conn, error) {
	addrs = addrs[:min(len(addrs), maxAttempts)]
	if len(addrs) == 1 { // such as DNS servers given by address
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
	var failure error
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
			failure = join(failure, a.err)
			if started < len(addrs) {
				start()
			}
		case <-delay.C:
			if started < len(addrs) {
				start()
			}
		}
	}
	if failure == nil {
		return nil, errNoAddress
	}
	return nil, failure
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

// errNoAddress is the error for a lookup that returned neither an address nor an error.
var errNoAddress = fmt.Errorf("%w: it has no address", ErrLookup)
