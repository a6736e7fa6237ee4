package resolver

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// Query is a request for a service of an identifier. Create it with NewQuery.
type Query struct {
	URI uri.URI // as requested; behind Canonical, the canonical name
	// URN is URI as a URN, parsed once; the zero value for other URIs.
	URN     uri.URN
	Service Service
	// Spelling is URI as requested, if it differs in characters that are insignificant in its scheme, such as
	// the hyphens of an ARK. It is the zero value otherwise, and for names that no registry of the site has.
	// Set by Canonical. The part after a registered prefix, and a location at a public resolver, keep this
	// spelling. For a name requested by another URL it is that URL, set by Identify: an unregistered name resolves
	// to it.
	Spelling uri.URI
	// ResolutionParams is the part of a URN for the resolution service, which can change the answer: an
	// r-component (RFC 8141 section 2.3.1), "?+...", or the directive "c" (draft-ietf-urnbis-rfc2141bis-urn-03
	// section 2.3.2), "?c=...". Set by Canonical.
	ResolutionParams string
	// Hops is the number of urnd instances that the query has passed through. It is part of the key, as it is
	// sent to servers: a loop must end, and not wait for its own load.
	Hops uint8
	// At requests the answer as of a time, which only the registry knows; the zero value means now. Such
	// answers are not cached.
	At time.Time
	// Client is the client whose quota the query uses; the zero value has no quota. It is not part of the key,
	// and a load does not see it.
	Client netip.Addr
	// NamesOnly means that the client may not be redirected to a URL that is no name of the registry. It is not
	// part of the key.
	NamesOnly bool
	// QuotaErr is the error with which each Limit fails this query; nil for most queries. Set by Cached for a
	// client that has reached its quota.
	QuotaErr error
}

// MaxHops is the number of hops at which a query fails: instances of urnd may be chained, but a loop must end.
// HopsField is the header field with this number in their requests to each other.
const (
	MaxHops   = 4
	HopsField = "Urnd-Hops"
)

// NewQuery returns the query of a service for u. The error is a *uri.ParseError, for a URI with the scheme
// "urn" that is not a URN.
func NewQuery(u uri.URI, service Service) (Query, error) {
	q := Query{URI: u, Service: service}
	if !u.IsURN() {
		return q, nil
	}
	var err error
	q.URN, err = u.URN()
	return q, err
}

// ParseQuery returns the query of a service for the URI in text. The error is a *uri.ParseError; the query may
// have its URI even then.
func ParseQuery(text string, service Service) (Query, error) {
	u, v, err := uri.ParseAny(text)
	return Query{URI: u, URN: v, Service: service}, err
}

// IsURN reports whether q is for a URN.
func (q Query) IsURN() bool { return q.URN.IsValid() }

// NID returns the namespace identifier of a URN, in lower case behind Canonical, or "" for other URIs.
func (q Query) NID() string { return q.URN.NID() }

// Key returns the key of the answer in a cache: the canonical name, the resolution parameters, the service
// unless it is the default, the hops if there are any, and the spelling if it may matter. Behind Canonical,
// equal keys mean equivalent queries. No other code composes keys.
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

// NameOfKey returns the canonical name in a key that extends a name, or "" for a key that is only a name.
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
