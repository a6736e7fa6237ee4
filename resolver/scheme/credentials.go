package scheme

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Credentials classifies the credentials of a request by their effect on the connection that carries it.
type Credentials uint8

// The effects of credentials.
const (
	CredentialsPerRequest    Credentials = iota // no credentials, or they authenticate this request alone
	CredentialsUnknown                          // unknown scheme, which may authenticate the connection
	CredentialsPerConnection                    // the server may authenticate the connection as that of the client
)

// connectionSchemes are the authentication schemes that authenticate a connection: RFC 4559 section 6, and the
// notes of the registry on Negotiate (https://www.iana.org/assignments/http-authschemes).
var connectionSchemes = [...]string{"negotiate", "ntlm", "kerberos", "nego2"}

// requestSchemes are the authentication schemes that authenticate a single request: the others of the registry,
// and two unregistered ones in wide use.
var requestSchemes = [...]string{
	"basic", "bearer", "concealed", "digest", "dpop", "gnap", "hoba", "mutual", "oauth", "privatetoken", "scram-sha-1",
	"scram-sha-256", "vapid", "aws4-hmac-sha256", "token",
}

// CredentialsOf classifies the credentials in Authorization. A scheme is recognized only by its exact name
// followed by a space; anything else is CredentialsUnknown, because servers differ in how leniently they parse.
func CredentialsOf(fields httpmessage.Fields) Credentials {
	kind := CredentialsPerRequest
	for _, line := range fields.Values("Authorization") {
		name, _, _ := strings.Cut(line, " ")
		name = strings.ToLower(name)
		switch {
		case slices.Contains(connectionSchemes[:], name):
			return CredentialsPerConnection
		case !slices.Contains(requestSchemes[:], name):
			kind = CredentialsUnknown
		}
	}
	return kind
}

// HasConnectionToken reports whether a response has data of a scheme that authenticates its connection, and not
// only the scheme's name. The connection must then stay bound to one client.
func HasConnectionToken(fields httpmessage.Fields) bool {
	for _, name := range [...]string{
		"Www-Authenticate", "Proxy-Authenticate", "Authentication-Info",
		"Proxy-Authentication-Info",
	} {
		for _, line := range fields.Values(name) {
			for _, c := range challenges(line) {
				if c.perConnection() && !c.isName() {
					return true
				}
			}
		}
	}
	return false
}

// WithoutConnectionSchemes returns the field lines of WWW-Authenticate without the challenges of schemes that
// authenticate a connection. found reports whether it removed any.
func WithoutConnectionSchemes(lines []string) (rest []string, found bool) {
	for _, line := range lines {
		var others []string
		for _, c := range challenges(line) {
			if c.perConnection() {
				found = true
				continue
			}
			others = append(others, c.elements...)
		}
		if len(others) > 0 {
			rest = append(rest, strings.Join(others, ", "))
		}
	}
	return rest, found
}

// challenge is one challenge of a field line: RFC 9110 section 11.3.
type challenge struct {
	scheme   string
	elements []string // list elements: the first has the scheme, the others parameters
}

func (c challenge) perConnection() bool {
	return slices.Contains(connectionSchemes[:], strings.ToLower(c.scheme))
}

// isName reports whether the challenge has neither data nor parameters.
func (c challenge) isName() bool { return len(c.elements) == 1 && len(c.elements[0]) == len(c.scheme) }

// challenges parses the challenges of a field line. A comma separates challenges as well as the parameters of
// one challenge; an element that starts with a token and "=" is a parameter (RFC 9110 section 11.6.1).
func challenges(line string) (all []challenge) {
	list, begin := elements(line), 0
	for i, element := range list {
		end := 0
		for end < len(element) && isTokenByte(element[end]) {
			end++
		}
		isParameter := end == 0 || strings.HasPrefix(strings.TrimLeft(element[end:], " \t"), "=")
		if isParameter && len(all) > 0 {
			all[len(all)-1].elements = list[begin : i+1]
			continue
		}
		begin = i
		all = append(all, challenge{element[:end], list[i : i+1]})
	}
	return all
}

// elements returns the non-empty elements of a list. A comma in a quoted string does not separate elements: RFC
// 9110 sections 5.6.1 and 5.6.4.
func elements(line string) (all []string) {
	start, quoted, escaped := 0, false, false
	for i := range len(line) {
		switch c := line[i]; {
		case escaped:
			escaped = false
		case c == '\\' && quoted:
			escaped = true
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			all = append(all, strings.Trim(line[start:i], " \t"))
			start = i + 1
		}
	}
	all = append(all, strings.Trim(line[start:], " \t"))
	return slices.DeleteFunc(all, func(element string) bool { return element == "" })
}

// isTokenByte reports whether c is a tchar: RFC 9110 section 5.6.2.
func isTokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
