package resolver

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// Query is the request of a service for an identifier. Create it with NewQuery.
type Query struct {
	URI uri.URI // as requested; behind Canonical, the canonical name
	// URN is URI as a URN, parsed once; the zero value for other URIs.
	URN     uri.URN
	Service Service
	// Spelling is URI as it was asked for where that differs in what names of its scheme do not count, as the hyphens of an ARK; the
	// zero value where it does not, and for names that no registry of the site has. Set by Canonical. A name that was registered
	// before urnd had the rules of its scheme is found by it, and what follows a prefix is passed on as it is there. Of a name that was asked for by
	// another URL it is that URL, which Named sets: what is not registered leads there.
	Spelling uri.URI
	// ResolutionParams is the part of a URN for the resolution service, which can change
	// the answer: an r-component (RFC 8141 section 2.3.1), "?+...", or the directive "c"
	// (draft-ietf-urnbis-rfc2141bis-urn-03 section 2.3.2), "?c=...". Set by Canonical.
	ResolutionParams string
	// Hops is how many urnds have asked each other for this name before. It is part of the key,
	// as the servers are told of it: a loop must end, and not wait for itself.
	Hops uint8
	// At asks for the answer as it was at a time, which only the registry of the site knows; the
	// zero value asks for the current one. Such answers are not cached.
	At time.Time
	// Client is whose share of the limits the query takes; the zero value has no share. It is
	// not part of the key, and no load sees it.
	Client netip.Addr
	// NamesOnly is whether the client may not be led to a URL that is no name of the registry. It is not part of the key.
	NamesOnly bool
	// NoSlot is why the query takes no slot of a Limit, which fails with it; nil for most. Set by
	// Cached for a client that has no share left.
	NoSlot error
}

// MaxHops is the number of hops with which a name is not resolved any more: urnds may be
// chained, but a loop must end. HopsField is the field of their requests to each other that
// holds the number.
const (
	MaxHops   = 4
	HopsField = "Urnd-Hops"
)

// NewQuery returns the query of a service for u. The error is the *uri.ParseError of a
// URI with the scheme "urn" that is not a URN.
func NewQuery(u uri.URI, service Service) (Query, error) {
	q := Query{URI: u, Service: service}
	if !u.IsURN() {
		return q, nil
	}
	var err error
	q.URN, err = u.URN()
	return q, err
}

// ParseQuery returns the question for a service of the URI in text. The error is a
// *uri.ParseError; the URI may be there even then.
func ParseQuery(text string, service Service) (Query, error) {
	u, v, err := uri.ParseAny(text)
	return Query{URI: u, URN: v, Service: service}, err
}

// IsURN reports whether q is about a URN.
func (q Query) IsURN() bool { return q.URN.IsValid() }

// NID returns the namespace identifier of a URN, in lower case behind Canonical, and ""
// for other URIs.
func (q Query) NID() string { return q.URN.NID() }

// Key returns the key of the answer in a cache: the canonical name, the resolution
// parameters, the service unless it is the default, the hops if there are any, and the spelling if it may matter. Behind
// Canonical, equal keys mean equivalent queries. No other code composes keys.
func (q Query) Key() string {
	key := q.URI.String() + q.ResolutionParams // no canonical URN has a "?"
	if q.Service != I2L {
		key += " " + q.Service.String() // no URI has a space
	}
	if q.Hops > 0 {
		key += " hops=" + strconv.Itoa(int(q.Hops))
	}
	if q.Spelling.IsValid() {
		key += " as=" + q.Spelling.String()
	}
	return key
}

// NameOfKey returns the canonical name in a key that consists of more than the name, and ""
// for a key that is only a name.
func NameOfKey(key string) string {
	if name, _, ok := strings.Cut(key, " "); ok {
		key = name
	} else if !strings.HasPrefix(key, "urn:") || !strings.Contains(key, "?") {
		return ""
	}
	if strings.HasPrefix(key, "urn:") {
		key, _, _ = strings.Cut(key, "?")
	}
	return key
}

// Component returns the value of the directive "c", or "".
func (q Query) Component() string {
	value, ok := strings.CutPrefix(q.ResolutionParams, componentPrefix)
	if !ok {
		return ""
	}
	return value
}

const componentPrefix = "?c="
