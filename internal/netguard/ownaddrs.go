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

// OwnAddrs contains the listening addresses of urnd, which no Guard may dial even if they are allowed otherwise: a
// client that reached urnd through itself would have its privileges. The zero value is empty. It is safe for
// concurrent use.
type OwnAddrs struct {
	addrs atomic.Pointer[[]netip.AddrPort]
}

// Set replaces the addresses. Addresses of Unix sockets are ignored because they cannot be dialed by name.
func (o *OwnAddrs) Set(addrs []net.Addr) {
	var all []netip.AddrPort
	for _, addr := range addrs {
		if tcp, ok := addr.(*net.TCPAddr); ok {
			all = append(all, tcp.AddrPort())
		}
	}
	o.addrs.Store(&all)
}

// Has reports whether urnd listens on an address. A listener on the unspecified address listens on all
// addresses of the host.
func (o *OwnAddrs) Has(dialled netip.AddrPort) bool {
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

// isLocal reports whether an address belongs to this host. It returns true if the addresses of the host are
// unknown.
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
