package scheme

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Ports is which ports of servers a URI may name, besides the default port of its scheme: RFC 1738
// section 6 warns of URLs of one protocol that speak another, such as gopher URLs that send mail. The
// zero value allows all above 1023.
type Ports struct {
	Allow func(port uint16) bool // also where the port is below 1024; nil allows none of these
	Deny  func(port uint16) bool // nil denies none
}

// reservedPorts is how many ports, from 0, only services of a system listen at.
const reservedPorts = 1024

// Check returns an error, of ErrPort, for a URI that names a port which is not allowed. The default
// port of a scheme is always allowed, as is a URI without port.
func (p Ports) Check(u uri.URI) error {
	text, ok := u.Port()
	if !ok || text == "" || strings.TrimLeft(text, "0") == u.DefaultPort() {
		return nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return fmt.Errorf("%w: %s is not between 0 and 65535", ErrPort, text)
	}
	return p.CheckPort(u.Scheme(), uint16(port))
}

// CheckPort is Check for a port to which a server refers, of a scheme without default.
func (p Ports) CheckPort(scheme string, port uint16) error {
	switch {
	case p.Allow != nil && p.Allow(port):
		return nil
	case port < reservedPorts:
		return fmt.Errorf("%w: %d is below %d, and not that of %s", ErrPort, port, reservedPorts, scheme)
	case p.Deny != nil && p.Deny(port):
		return fmt.Errorf("%w: servers of another protocol than %s listen at port %d", ErrPort, scheme, port)
	}
	return nil
}
