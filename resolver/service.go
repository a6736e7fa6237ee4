package resolver

import "github.com/urnd/urnd/uri"

// Service is a service of RFC 2483 section 4. THTTP has other names for them (RFC 2169 section 3). The zero
// value is I2L, the default.
type Service uint8

// The services of RFC 2483 section 4.
const (
	I2L  Service = iota // one location
	I2Ls                // all locations
	I2R                 // the resource
	I2Rs                // the resources
	I2C                 // a description
	I2Cs                // all descriptions
	I2N                 // a name
	I2Ns                // all names
	IisI                // "I=I": whether two identifiers are equal
)

var serviceNames = [...]string{"I2L", "I2Ls", "I2R", "I2Rs", "I2C", "I2Cs", "I2N", "I2Ns", "I=I"}

// serviceSuffixes are the names of the services without their first letter, in lower case.
var serviceSuffixes = [...]string{"2l", "2ls", "2r", "2rs", "2c", "2cs", "2n", "2ns", "=i"}

// String returns the name in RFC 2483.
func (s Service) String() string { return serviceNames[s] }

// Locates reports whether s is answered with locations of the resource.
func (s Service) Locates() bool { return s == I2L || s == I2Ls }

// THTTPName returns the name in RFC 2169 section 3 of the service of q, which every server supports.
func THTTPName(q Query) string {
	class := "N"
	if !q.IsURN() {
		class = "L"
	}
	switch q.Service {
	case I2C, I2Cs:
		return class + "2C"
	case I2N, I2Ns:
		return class + "2Ns"
	case I2R, I2Rs:
		return class + q.Service.String()[1:]
	default: // RFC 2169 has no L2L
		return "N" + q.Service.String()[1:]
	}
}

// ParseService parses the name of a service, ignoring case (RFC 2483 section 2.1). "N2L" and "L2L" are I2L, as
// in RFC 2169.
func ParseService(name string) (Service, bool) {
	if len(name) < 3 {
		return 0, false
	}
	for i, suffix := range serviceSuffixes {
		if uri.EqualFold(name[1:], suffix) && isKind(name[0]) {
			return Service(i), true
		}
	}
	return 0, false
}

// isKind reports whether b can be the first letter of a service: I for an identifier, N for a name, L for a
// location.
func isKind(b byte) bool {
	switch b {
	case 'I', 'i', 'N', 'n', 'L', 'l':
		return true
	}
	return false
}
