package netguard

import "net/netip"

// block is an address block outside the public Internet.
type block struct {
	prefix netip.Prefix
	kind   string
}

// blocks are the entries of the IANA special-purpose address registries (RFC 6890) that are not globally
// reachable, or that map to an address of another kind. specialNetworks in package config is a copy for
// warnings.
var blocks = [...]block{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared address space of a carrier"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("168.63.129.16/32"), "the platform address of a cloud provider"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local, where clouds provide metadata"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved for protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a 6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("::/96"), "an IPv4 address in IPv6"},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), "an IPv4 address behind a translator"},
	{netip.MustParsePrefix("64:ff9b::/96"), "an IPv4 address behind a translator"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "an IPv4 address behind a translator"},
	{netip.MustParsePrefix("100::/64"), "discarded"},
	{netip.MustParsePrefix("2001::/23"), "reserved for protocols"},
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
	{netip.MustParsePrefix("2002::/16"), "a 6to4 tunnel to an IPv4 address"},
	{netip.MustParsePrefix("3fff::/20"), "for documentation"},
	{netip.MustParsePrefix("5f00::/16"), "for segment routing"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "site-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// specialKind returns the kind of the block that contains addr, "" for a public address. addr must have no zone and
// must not be an IPv4-mapped IPv6 address.
func specialKind(addr netip.Addr) string {
	for _, b := range blocks {
		if b.prefix.Contains(addr) {
			return b.kind
		}
	}
	return ""
}
