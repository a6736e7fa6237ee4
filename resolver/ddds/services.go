package ddds

import (
	"errors"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// services is a parsed SERVICES field of RFC 3404 section 4.4: service_field = [ [protocol] *("+" rs) ]. In the
// form of U-NAPTR, service and protocol are exchanged: "I2R:http" (RFC 4848 section 2.2), or "I2R+http", as in
// the namespace ddi (RFC 9517).
type services struct {
	protocol string   // in lower case, "" if there is none
	rs       []string // as written
	uNAPTR   bool
}

var errServices = errors.New("services field is not protocol+service+... (RFC 3404 section 4.4)")

func parseServices(field string) (services, error) {
	if field == "" {
		return services{}, nil
	}
	if s, ok := parseUNAPTR(field); ok {
		return s, nil
	}
	parts := strings.Split(field, "+")
	for i, part := range parts {
		if (i > 0 || part != "") && !isServiceToken(part) {
			return services{}, errServices
		}
	}
	return services{protocol: strings.ToLower(parts[0]), rs: parts[1:]}, nil
}

// parseUNAPTR parses the form of U-NAPTR, with one protocol.
func parseUNAPTR(field string) (services, bool) {
	i := strings.IndexAny(field, ":+")
	if i < 0 || !isServiceToken(field[i+1:]) {
		return services{}, false
	}
	if _, ok := resolver.ParseService(field[:i]); !ok {
		return services{}, false
	}
	return services{protocol: strings.ToLower(field[i+1:]), rs: []string{field[:i]}, uNAPTR: true}, true
}

// isServiceToken reports whether s is ALPHA *31ALPHANUM.
func isServiceToken(s string) bool {
	for i := range len(s) {
		lower := uri.Lower(s[i])
		letter := 'a' <= lower && lower <= 'z'
		digit := '0' <= s[i] && s[i] <= '9'
		if !letter && (i == 0 || !digit) {
			return false
		}
	}
	return s != "" && len(s) <= 32
}

// offers reports whether the field offers a service. The services of a pair, such as I2L and I2Ls, are
// interchangeable. A field without services offers all.
func (s services) offers(want resolver.Service) bool {
	if len(s.rs) == 0 {
		return true
	}
	want = singular(want)
	for _, name := range s.rs {
		if service, ok := resolver.ParseService(name); ok && singular(service) == want {
			return true
		}
	}
	return false
}

// leadsToResource reports whether a rule offers the resource itself, but not the wanted I2L or I2Ls: the URI of
// the resource at the server is then a location.
func (s services) leadsToResource(want resolver.Service) bool {
	return singular(want) == resolver.I2L && !s.offers(want) && (s.offers(resolver.I2R) || s.offers(resolver.I2Rs))
}

// nearest returns the service to request: want, or the other one of a pair such as I2L and I2Ls if only that is
// offered.
func (s services) nearest(want resolver.Service) resolver.Service {
	nearest := want
	for _, name := range s.rs {
		service, ok := resolver.ParseService(name)
		if ok && service == want {
			return want
		}
		if ok && singular(service) == singular(want) {
			nearest = service
		}
	}
	return nearest
}

// singular returns the service with one result for the service with several, such as I2L for I2Ls, and other
// services unchanged: the answer to one can be derived from the other.
func singular(s resolver.Service) resolver.Service {
	switch s {
	case resolver.I2Ls, resolver.I2Cs, resolver.I2Ns:
		return s - 1
	default:
		return s
	}
}

// protocol is a protocol of the SERVICES field.
type protocol struct {
	scheme string
	// viaTHTTP means that urnd can query the server itself by THTTP: HTTP with paths by convention (RFC 2169).
	// For other protocols the server is a location.
	viaTHTTP bool
}

// lookupProtocol returns a protocol by its name in lower case (RFC 3404 section 4.4). A protocol without a URI
// scheme, such as "rcds", is not supported: urnd can neither query its servers nor return them as locations.
func lookupProtocol(name string) (protocol, bool) {
	switch name {
	case "thttp", "http":
		return protocol{scheme: "http", viaTHTTP: true}, true
	case "https":
		return protocol{scheme: "https", viaTHTTP: true}, true
	case "z3950":
		return protocol{scheme: "z39.50s"}, true // a session: RFC 2056 section 2
	}
	return protocol{}, false
}
