package netguard

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
)

// ErrOwn is the error for a listener of urnd itself. It wraps ErrForbidden.
var ErrOwn = fmt.Errorf("%w: a listener of urnd itself", ErrForbidden)

// Own are the addresses that urnd listens on, which no Guard may dial whatever else it allows:
// who reaches urnd by itself would have its rights. The zero value has none. It is safe for
// concurrent use.
type Own struct {
	addrs atomic.Pointer[[]netip.AddrPort]
}

// Set replaces the addresses; those of Unix sockets are ignored, as they cannot be dialled.
func (o *Own) Set(addrs []net.Addr) {
	var all []netip.AddrPort
	for _, addr := range addrs {
		if tcp, ok := addr.(*net.TCPAddr); ok {
			all = append(all, tcp.AddrPort())
		}
	}
	o.addrs.Store(&all)
}

// Has reports whether urnd listens on an address. Who listens on all addresses does on each of
// this machine.
func (o *Own) Has(dialled netip.AddrPort) bool {
	all := o.addrs.Load()
	if all == nil {
		return false
	}
	addr := dialled.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(*all, func(own netip.AddrPort) bool {
		if own.Port() != dialled.Port() {
			return false
		}
		listens := own.Addr().Unmap().WithZone("")
		return listens == addr || (listens.IsUnspecified() || addr.IsUnspecified()) && isLocal(addr)
	})
}

// isLocal reports whether an address is one of this machine; where they are not known, it may
// be.
func isLocal(addr netip.Addr) bool {
	if addr.IsLoopback() || addr.IsUnspecified() {
		return true
	}
	interfaces, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(interfaces, func(a net.Addr) bool {
		network, ok := a.(*net.IPNet)
		if !ok {
			return false
		}
		local, _ := netip.AddrFromSlice(network.IP)
		return local.Unmap() == addr
	})
}
