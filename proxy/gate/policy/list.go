package policy

import (
	"fmt"
	"net/netip"
)

// HostList is a list of hosts beside a rule, such as that of a file. What it has may change; it is safe for concurrent use. Its
// String is what administrators know it by.
type HostList interface {
	fmt.Stringer
	// Has reports whether a host in canonical form is in the list; literal is the host where it is an address.
	Has(host string, literal netip.Addr) bool
}

// URLList is a list of URLs, as HostList.
type URLList interface {
	fmt.Stringer
	// Has reports whether a URL with such a host, path and query, in normal form, is in the list.
	Has(host string, literal netip.Addr, path, query string) bool
}

// AddressList is a list of networks, as HostList.
type AddressList interface {
	fmt.Stringer
	Has(addr netip.Addr) bool
}

// hasClient reports whether a client is one of the rule.
func (r *rule) hasClient(client netip.Addr) bool {
	return r.clients.has(client) || hasAddress(r.ClientLists, client)
}

// hasHost reports whether a host is one of a rule that has lists of them, or is not found by its hosts.
func (r *rule) hasHost(host string, literal netip.Addr) bool {
	if r.hosts != nil && r.hosts.has(host, literal) {
		return true
	}
	for _, list := range r.HostLists {
		if list.Has(host, literal) {
			return true
		}
	}
	return false
}

func hasAddress(lists []AddressList, addr netip.Addr) bool {
	for _, list := range lists {
		if list.Has(addr) {
			return true
		}
	}
	return false
}

// hasURL reports whether the URL of a request is in a list of the rule, as its path is compared with Rule.Paths. A CONNECT has none.
func (r *rule) hasURL(request *Request, literal netip.Addr) bool {
	return r.hasEachPath(request, func(path string) bool {
		for _, list := range r.URLLists {
			if list.Has(request.Host, literal, path, request.Query) {
				return true
			}
		}
		return false
	})
}
