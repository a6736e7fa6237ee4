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

// warnOfServer warns as RFC 1738 section 6 asks: of ports, and of passwords.
func (d *description) warnOfServer(u uri.URI, ports scheme.Ports) {
	userinfo, _ := u.Userinfo()
	user, password, hasPassword := strings.Cut(userinfo, ":")
	host, _ := u.Host()
	if hasPassword {
		d.warn("There is a password in this address. Everybody who sees the address can read it, so it is not a secret any more. It is not shown here, and the link does not have it.")
		d.warnOfCharacters("password", decoded(password))
	}
	if name := decoded(user); looksLikeHost(name) {
		d.warn(fmt.Sprintf("%q, before the at sign, is the name of a user, although it looks like the name of a server. The server is %s.", scheme.Text(name), host))
	}
	d.warnOfPort(u, ports)
}

func (d *description) warnOfPort(u uri.URI, ports scheme.Ports) {
	text, _ := u.Port()
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || text == u.DefaultPort() {
		return
	}
	name := u.Scheme()
	switch service := serviceAt(uint16(port)); {
	case service != "":
		d.warnHarmful(fmt.Sprintf("Port %d is where servers of %s listen, and not those of %s. What a %s program sends there can be taken for commands of the other protocol, and can do harm that you do not see.", port, service, name, name))
	case ports.CheckPort(name, uint16(port)) != nil:
		d.warnHarmful(fmt.Sprintf("Port %d is one that %s addresses should not name: servers of other protocols use such ports. What a %s program sends there can be taken for commands, and can do harm that you do not see.", port, name, name))
	default:
		d.warn(fmt.Sprintf("Port %d is not the usual port of %s, which is %s. Open this address only if you know its server.", port, name, u.DefaultPort()))
	}
}

// looksLikeHost reports whether a user name could be read as the server: a name with a dot, an address, or one
// with what ends a host.
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

// serviceAt returns the protocol of a well-known port, "" where there is none.
func serviceAt(port uint16) string {
	switch port {
	case 7, 9, 13, 19:
		return "old test services (echo, discard, daytime, chargen)"
	case 20, 21, 989, 990:
		return "file transfer (FTP)"
	case 22:
		return "secure login (SSH)"
	case 23:
		return "remote sessions (telnet)"
	case 25, 465, 587, 2525:
		return "mail (SMTP)"
	case 53, 853:
		return "names (DNS)"
	case 70:
		return "gopher"
	case 79:
		return "finger"
	case 80, 443, 3128, 8000, 8080, 8443:
		return "the web (HTTP)"
	case 88, 464:
		return "Kerberos"
	case 110, 995:
		return "mailboxes (POP3)"
	case 119, 433, 563:
		return "news (NNTP)"
	case 139, 445:
		return "shared folders (SMB)"
	case 143, 993:
		return "mailboxes (IMAP)"
	case 194, 6667, 6697:
		return "chat (IRC)"
	case 210:
		return "library catalogues (Z39.50)"
	case 389, 636:
		return "directories (LDAP)"
	case 512, 513, 514:
		return "remote commands (rexec, rlogin, rsh)"
	case 515, 631, 9100:
		return "printing"
	case 873:
		return "copies of files (rsync)"
	case 1433, 1521, 3306, 5432, 27017:
		return "databases"
	case 1525:
		return "Prospero"
	case 2049:
		return "shared folders (NFS)"
	case 3389, 5900:
		return "remote screens (RDP, VNC)"
	case 5060, 5061:
		return "telephony (SIP)"
	case 6000:
		return "screens (X11)"
	case 6379, 11211:
		return "caches (Redis, memcached)"
	case 9200:
		return "searches (Elasticsearch)"
	default:
		return ""
	}
}
