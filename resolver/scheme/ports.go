package scheme

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Ports decides which server ports a URI may name besides the default port of its scheme. RFC 1738 section 6
// warns of URLs of one protocol that reach servers of another, such as gopher URLs that send mail. The zero
// value allows all ports from 1024.
type Ports struct {
	Allow func(port uint16) bool // allows a port, even below 1024; nil allows none of these
	Deny  func(port uint16) bool // nil denies none
}

// reservedPorts is the number of reserved ports, from 0, at which only services of the system listen.
const reservedPorts = 1024

// Check returns an error that wraps ErrPort if a URI names a port that is not allowed. The default port of the
// scheme, and a URI without port, are always allowed.
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

// CheckPort is Check for a port that a server refers to, without the exception for the default port.
func (p Ports) CheckPort(scheme string, port uint16) error {
	switch {
	case p.Allow != nil && p.Allow(port):
		return nil
	case port < reservedPorts:
		return fmt.Errorf("%w: %d is below %d, and not the port of %s", ErrPort, port, reservedPorts, scheme)
	case p.Deny != nil && p.Deny(port):
		return fmt.Errorf("%w: servers of another protocol than %s listen at port %d", ErrPort, scheme, port)
	}
	return nil
}
