// Package ddds resolves names by the Dynamic Delegation Discovery System: RFC 3402 (the algorithm), RFC 3403
// (NAPTR records in the DNS) and RFC 3404 (URI and URN resolution). A canonical resolver.Query enters; a
// resolver.Answer with the locations of terminal rules, or a negative answer, leaves. The package also has the
// DNS client for it, with a cache of record sets, and the lookup of host addresses.
//
// The algorithm does no I/O: it works on records that were fetched before. Only the files named dns*.go import
// a DNS library.
package ddds

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// NAPTR is one record of RFC 3403 section 4.1, as on the wire: character-strings without the escapes of master
// files.
type NAPTR struct {
	Order       uint16
	Preference  uint16
	Flags       string
	Services    string
	Regexp      string
	Replacement string // a domain name with a final dot; "." if not used
}

// SRV is one record of RFC 2782.
type SRV struct {
	Priority uint16
	Weight   uint16
	Port     uint16
	Target   string
}

// Lookuper looks up record sets. The error for a name without such records is a *resolver.Negative of kind
// resolver.ErrNotFound, with the TTL of RFC 2308; other errors mean that no server answered. It is safe for
// concurrent use. The records must not be modified.
type Lookuper interface {
	NAPTR(ctx context.Context, name string) ([]NAPTR, RRsetInfo, error)
	SRV(ctx context.Context, name string) ([]SRV, RRsetInfo, error)
}

// AddressLookuper looks up the addresses of a host, of one family. Its errors are those of a Lookuper. It is
// safe for concurrent use. The addresses must not be modified.
type AddressLookuper interface {
	Addresses(ctx context.Context, name string, family Family) ([]netip.Addr, RRsetInfo, error)
}

// Family is an address family.
type Family uint8

// The families; the zero value is IPv4.
const (
	IPv4 Family = iota
	IPv6
)

// RRsetInfo is the TTL and the authentication of a record set.
type RRsetInfo struct {
	TTL       time.Duration // the least of the records, aliases included
	Authentic bool          // the reply has the AD bit: RFC 4035 section 3.2.3
}

// sorted returns records sorted by order, then preference; the sort is stable (RFC 3403 section 4.1). The
// result must not be modified.
func sorted(records []NAPTR) []NAPTR {
	if slices.IsSortedFunc(records, compareOrder) {
		return records
	}
	byOrder := slices.Clone(records)
	slices.SortStableFunc(byOrder, compareOrder)
	return byOrder
}

func compareOrder(a, b NAPTR) int {
	if a.Order != b.Order {
		return int(a.Order) - int(b.Order)
	}
	return int(a.Preference) - int(b.Preference)
}

// hasReplacement reports whether the REPLACEMENT field is used: the root name means that it is not.
func (r NAPTR) hasReplacement() bool { return r.Replacement != "" && r.Replacement != "." }

// flag returns the flag of r: 'S', 'A', 'U', 'P', or 0 for a non-terminal rule. It returns false if r must be
// skipped (RFC 3404 section 4.3).
func (r NAPTR) flag() (byte, bool) {
	if r.Flags == "" {
		return 0, true
	}
	flag := uri.Upper(r.Flags[0])
	if len(r.Flags) == 1 && strings.IndexByte("SAUP", flag) >= 0 {
		return flag, true
	}
	return 0, false // unknown, or more than one of the four exclusive flags
}

// String returns r in the syntax of a master file, for traces.
func (r NAPTR) String() string {
	return fmt.Sprintf("%d %d %q %q %q %s", r.Order, r.Preference, r.Flags, r.Services, r.Regexp, r.Replacement)
}

// traced returns r for a trace step, without its use.
func (r NAPTR) traced(domain string, ttl time.Duration) *resolver.Rule {
	return &resolver.Rule{
		Domain: domain, TTL: ttl, Order: r.Order, Preference: r.Preference, Flags: r.Flags, Services: r.Services,
		Regexp:     r.Regexp,
		Substitute: r.Replacement,
	}
}
