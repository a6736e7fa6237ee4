package route

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/urnd/urnd/uri"
)

// Authority is the target of a CONNECT.
type Authority struct {
	Host string // in canonical form: in lower case, without a final dot, IPv6 without brackets
	Port uint16 // not 0
}

var (
	errAuthority = errors.New("the target of CONNECT must be a host and a port, such as example.org:443 (RFC 9110 " +
		"section 9.3.6)")
	errPortRange = errors.New("a port must be between 0 and 65535")
	errPort      = errors.New("port 0 is not valid")
)

// ParseAuthority parses the target of a CONNECT, "host:port". The error says what is wrong with it.
func ParseAuthority(target string) (Authority, error) {
	u, err := uri.Parse("http://" + target)
	if err != nil || target == "" {
		return Authority{}, errAuthority
	}
	authority, _ := u.Authority()
	port, _ := u.Port()
	if _, login := u.Userinfo(); login || authority != target || port == "" {
		return Authority{}, errAuthority
	}
	if err := u.Check(); err != nil {
		return Authority{}, fmt.Errorf("the target of CONNECT: %w", err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil:
		return Authority{}, errPortRange
	case number == 0:
		return Authority{}, errPort
	}
	return Authority{u.Normalize().Hostname(), uint16(number)}, nil
}
