package netguard

import (
	"errors"
	"net"
	"net/netip"
)

// hidden is an error whose text omits the addresses of a name. It may be shown to clients, which must not learn
// the addresses of the internal network.
type hidden struct {
	text   string
	detail error
}

func (h *hidden) Error() string { return h.text }

// Unwrap returns the error with addresses.
func (h *hidden) Unwrap() error { return h.detail }

// Detail returns the text of a connection error including the addresses that Error omits, for logs; "" if it
// omits none.
func Detail(err error) string {
	var h *hidden
	if !errors.As(err, &h) {
		return ""
	}
	return h.detail.Error()
}

// Public returns the text of an error that wraps ErrForbidden for clients, which must not learn the address of
// a name.
func Public(err error) string {
	var refused *denial
	if errors.As(err, &refused) {
		return ErrForbidden.Error() + ": " + refused.public
	}
	for _, known := range [...]error{ErrOwn, errSpelling, errLabels} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return ErrForbidden.Error()
}

// Code returns the identifier of the message for an error that wraps ErrForbidden, and its parameters as
// alternating names and values.
func Code(err error) (code string, values []string) {
	var refused *denial
	switch {
	case errors.As(err, &refused):
		return refused.code, refused.values
	case errors.Is(err, ErrOwn):
		return "destination_is_this_server", nil
	case errors.Is(err, errSpelling):
		return "destination_is_number", nil
	case errors.Is(err, errLabels):
		return "destination_no_host", nil
	default:
		return "destination_forbidden", nil
	}
}

// hide returns a connection error whose text omits addresses.
func hide(err error) error {
	text := withoutAddresses(err)
	if text == err.Error() {
		return err
	}
	return &hidden{text, err}
}

func withoutAddresses(err error) string {
	var op *net.OpError
	var refused *denial
	switch joined, ok := err.(interface{ Unwrap() []error }); {
	case ok:
		text := ""
		for _, one := range joined.Unwrap() {
			if text != "" {
				text += "; "
			}
			text += withoutAddresses(one)
		}
		return text
	case errors.As(err, &refused):
		return Public(refused)
	case errors.As(err, &op):
		return withoutEnds(op).Error()
	default:
		return err.Error()
	}
}

// withoutEnds returns a copy of a connection error without its addresses.
func withoutEnds(op *net.OpError) *net.OpError {
	changed := *op
	changed.Source, changed.Addr = nil, nil
	return &changed
}

// namedConn is a connection to a host name, whose errors omit addresses.
type namedConn struct{ net.Conn }

func (c namedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, hideEnds(err)
}

func (c namedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, hideEnds(err)
}

func hideEnds(err error) error {
	op, ok := err.(*net.OpError) //nolint:errorlint // returned unwrapped by a connection
	if !ok {
		return err
	}
	return withoutEnds(op)
}

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
	{netip.MustParsePrefix("168.63.129.16/32"), "the platform address of a cloud provider provider"},
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

// special returns the kind of the block that contains addr, "" for a public address. addr must have no zone and
// must not be an IPv4-mapped IPv6 address.
func special(addr netip.Addr) string {
	for _, b := range blocks {
		if b.prefix.Contains(addr) {
			return b.kind
		}
	}
	return ""
}
