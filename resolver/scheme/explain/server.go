package explain

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// server adds the host and the port of a URI.
func (d *description) server(u uri.URI) {
	host, _ := u.Host()
	d.property("Host", decoded(host))
	if port, _ := u.Port(); port != "" {
		d.property("Port", port)
	} else {
		d.property("Port", u.DefaultPort()+" (the usual one)")
	}
}

// warnOfServer warns of ports and passwords, as RFC 1738 section 6 requires.
func (d *description) warnOfServer(u uri.URI, c Config) {
	userinfo, _ := u.Userinfo()
	user, password, hasPassword := strings.Cut(userinfo, ":")
	host, _ := u.Host()
	if hasPassword {
		d.warn("This address contains a password. Everybody who sees the address can read it: it is no longer " +
			"secret. The password is neither shown here nor part of the link.")
		d.warnOfCharacters("password", decoded(password))
	}
	if name := decoded(user); looksLikeHost(name) {
		d.warn(fmt.Sprintf("%q, before the at sign, is a user name, although it looks like a host name. The "+
			"server is %s.", scheme.DecodeText(name), host))
	}
	d.warnOfPort(u, c)
}

func (d *description) warnOfPort(u uri.URI, c Config) {
	text, _ := u.Port()
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || text == u.DefaultPort() {
		return
	}
	name := u.Scheme()
	switch service := c.serviceAt(uint16(port)); {
	case service != "":
		d.warnHarmful(fmt.Sprintf("Port %d is the port of %s, not of %s. What a %s program sends there can "+
			"be taken for commands of the other protocol, and can do harm that you do not see.", port, service,
			name, name))
	case c.Ports.CheckPort(name, uint16(port)) != nil:
		d.warnHarmful(fmt.Sprintf("Port %d is one that %s addresses should not name: servers of other protocols use "+
			"such ports. "+
			"What a %s program sends there can be taken for commands, and can do harm that you do not see.", port,
			name, name))
	default:
		d.warn(fmt.Sprintf("Port %d is not the usual port of %s, which is %s. Open this address only if you know "+
			"its server.", port, name, u.DefaultPort()))
	}
}

// looksLikeHost reports whether a user name could be mistaken for the server: it has a dot, is an IP address,
// or has a delimiter that ends a host.
func looksLikeHost(user string) bool {
	if _, err := netip.ParseAddr(user); err == nil {
		return true
	}
	if strings.ContainsAny(user, "/?#@\\") {
		return true
	}
	first, last, found := strings.Cut(user, ".")
	return found && first != "" && last != ""
}
