package uri

import (
	"net/netip"
	"strconv"
	"strings"
)

// The rules of server-based authorities, which the schemes of RFC 1738 have in common: login = [ user [ ":"
// password ] "@" ] hostport.
var (
	ruleServer = newRule("no_server", "hostport", "RFC 1738 section 5",
		"the scheme is followed by two slashes and the host of a server")
	ruleHostname = newRule("host_name", "hostname", "RFC 1738 section 5",
		"a host name is labels of letters, digits and hyphens, joined by dots")
	ruleHostnumber = newRule("host_number", "hostnumber", "RFC 3986 section 3.2.2",
		"a host that ends in a number must be an IPv4 address: four "+
			"numbers up to 255, without leading zeros")
	ruleIDNA = newRule("host_percent_encoded", "IDN", "RFC 3986 section 3.2.2",
		"percent-encoded bytes in a host name are UTF-8 that IDNA allows")
	ruleHostLength = newRule("host_length", "hostname", "RFC 1035 section 2.3.4",
		"a host name has at most 253 bytes, and each of its labels 63")
	rulePortRange = newRule("port_range", "port", "RFC 1738 section 3.1", "a port is a number from 0 to 65535")
	ruleNoUser    = newRule("no_user", "hostport", "RFC 1738 section 5", "this scheme has no user names")
	ruleLogin     = newRule("login_colon", "login", "RFC 1738 section 3.1",
		"a colon in a user name or a password is percent-encoded")
	ruleURLPath = newRule("no_slash", "urlpath", "RFC 1738 section 5", "the path after the host begins with a slash")
)

// checkServer checks that u has a valid host of a server, and that its port is in range.
func (u URI) checkServer() error {
	start, ok := u.authorityStart()
	if !ok {
		return failure(u.s, min(u.schemeEnd()+1, len(u.s)), ruleServer)
	}
	text, _ := u.Authority()
	a := splitAuthority(text)
	if user, _ := a.userinfo(); strings.IndexByte(user, ':') != strings.LastIndexByte(user, ':') {
		return failure(u.s, start+strings.LastIndexByte(user, ':'), ruleLogin)
	}
	if err := checkHost(a.host()); err != nil {
		return failure(u.s, start+a.start+err.offset, err.rule)
	}
	if port, ok := a.port(); ok && port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return failure(u.s, start+a.end+1, rulePortRange)
		}
	}
	return nil
}

// checkServerNoUser is checkServer for schemes without userinfo.
func (u URI) checkServerNoUser() error {
	if _, ok := u.Userinfo(); ok {
		start, _ := u.authorityStart()
		return failure(u.s, start, ruleNoUser)
	}
	return u.checkServer()
}

// pathText returns the path of u and its offset, for schemes in which "?" is an ordinary byte of the path (RFC
// 1738 section 5).
func (u URI) pathText() (string, int, error) {
	text := u.s[u.pathStart():u.fragStart()]
	if text != "" && text[0] != '/' {
		return "", 0, failure(u.s, u.pathStart(), ruleURLPath)
	}
	return text, u.pathStart(), nil
}

// hostFailure is the rule that a host breaks, with the offset in the host.
type hostFailure struct {
	offset int
	rule   Rule
}

// checkHost checks the host of a server: an IP literal, an IPv4 address in its only unambiguous form, or a host
// name. Percent-encoded bytes are checked as decoded. Underscores are allowed, since names with them are in
// use.
func checkHost(host string) *hostFailure {
	if host == "" {
		return &hostFailure{0, ruleServer}
	}
	if host[0] == '[' {
		return nil
	}
	host, ok := idnaHost(host)
	if !ok {
		return &hostFailure{0, ruleIDNA}
	}
	name := strings.TrimSuffix(host, ".")
	if n := len(host) - len("%2e"); n > 0 && EqualFold(host[n:], "%2e") {
		name = host[:n]
	}
	label, bad := lastLabel(name)
	if bad >= 0 {
		return &hostFailure{bad, ruleHostname}
	}
	if i := tooLong(decode(name)); i >= 0 {
		return &hostFailure{i, ruleHostLength}
	}
	// An encoded digit is a digit in the normal form, and to a DNS resolver.
	if last := decode(name[label:]); strings.Trim(last, digits) == "" || isHexNumber(last) {
		if addr, err := netip.ParseAddr(host); err != nil || !addr.Is4() {
			return &hostFailure{0, ruleHostnumber}
		}
	}
	return nil
}

// lastLabel returns the offset of the last label of name, and the offset at which name breaks the grammar of
// host names, or -1.
func lastLabel(name string) (label, bad int) {
	previous := byte('.') // a label starts and ends with neither "." nor "-"
	for i := 0; i < len(name); i++ {
		b, at := name[i], i
		if b == '%' {
			b = unhex(name[i+1])<<4 | unhex(name[i+2])
			i += 2
		}
		switch {
		case is(b, classAlpha|classDigit) || b == '_':
		case b == '-' && previous != '.':
		case b == '.' && previous != '.' && previous != '-':
			label = i + 1
		default:
			return label, at
		}
		previous = b
	}
	if previous == '.' || previous == '-' {
		return label, len(name)
	}
	return label, -1
}

// tooLong returns the offset at which a host name exceeds a limit of the DNS, or -1.
func tooLong(name string) int {
	if len(name) > 253 {
		return 253
	}
	start := 0
	for i := range len(name) {
		switch {
		case name[i] == '.':
			start = i + 1
		case i-start == 63:
			return i
		}
	}
	return -1
}

// isHexNumber reports whether some software would parse s as a hexadecimal number.
func isHexNumber(s string) bool {
	return len(s) > 1 && s[0] == '0' && Lower(s[1]) == 'x' && strings.Trim(s[2:], hexDigits) == ""
}

// indexEncoded returns the offset of the first percent-encoding in s of a byte for which bad returns true, or
// -1.
func indexEncoded(s string, bad func(byte) bool) int {
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		if bad(unhex(s[i+1])<<4 | unhex(s[i+2])) {
			return i
		}
		i += 2
	}
	return -1
}

// Bytes that would end a line of a protocol early, and start another command (RFC 1738 section 6).
func isLineEnd(b byte) bool { return b == '\r' || b == '\n' }
func isControl(b byte) bool { return b < ' ' || b == 0x7F }

// decode returns s with all its percent-encodings decoded.
func decode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' {
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}
