package policy

import (
	"fmt"
	"net/netip"
)

// HostList is a list of hosts that a rule refers to, such as that of a file. Its content may change; it must
// be safe for concurrent use. Its String identifies it to administrators.
type HostList interface {
	fmt.Stringer
	// Has reports whether a host in canonical form is in the list; literal is the host's address if it is one.
	Has(host string, literal netip.Addr) bool
}

// URLList is a list of URLs, with the properties of a HostList.
type URLList interface {
	fmt.Stringer
	// Has reports whether the URL with this host, path and query, in normal form, is in the list.
	Has(host string, literal netip.Addr, path, query string) bool
}

// AddressList is a list of networks, with the properties of a HostList.
type AddressList interface {
	fmt.Stringer
	Has(addr netip.Addr) bool
}

// hasClient reports whether a client matches the rule.
func (r *rule) hasClient(client netip.Addr) bool {
	return r.clients.has(client) || hasAddress(r.ClientLists, client)
}

// hasHost reports whether a host matches a rule with host lists, or a rule that is not indexed by its hosts.
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

// hasURL reports whether the URL of a request is in a list of the rule. Its path is compared like Rule.Paths.
// A CONNECT has no URL.
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
