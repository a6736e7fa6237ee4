package scheme

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Credentials is what the credentials of a request mean for the connection that it is sent by.
type Credentials uint8

// The kinds of credentials.
const (
	CredentialsOfRequest    Credentials = iota // they are about their request alone, or there are none
	CredentialsUnknown                         // their scheme is not known, and may be about the connection
	CredentialsOfConnection                    // the server may take the connection for that of the client from now on
)

// connectionSchemes are the authentication schemes by which a server authenticates a connection: RFC 4559 section 6,
// and the registry of schemes on Negotiate (https://www.iana.org/assignments/http-authschemes).
var connectionSchemes = [...]string{"negotiate", "ntlm", "kerberos", "nego2"}

// requestSchemes are those by which it authenticates one request: the others of the registry, and two that servers
// with many clients use.
var requestSchemes = [...]string{
	"basic", "bearer", "concealed", "digest", "dpop", "gnap", "hoba", "mutual", "oauth", "privatetoken", "scram-sha-1", "scram-sha-256", "vapid",
	"aws4-hmac-sha256", "token",
}

// CredentialsOf returns the kind of the credentials in Authorization. A scheme is known only by its exact name and a
// space behind it: what a server takes for it besides is not known.
func CredentialsOf(fields httpmessage.Fields) Credentials {
	kind := CredentialsOfRequest
	for _, line := range fields.Lines("Authorization") {
		name, _, _ := strings.Cut(line, " ")
		name = strings.ToLower(name)
		switch {
		case slices.Contains(connectionSchemes[:], name):
			return CredentialsOfConnection
		case !slices.Contains(requestSchemes[:], name):
			kind = CredentialsUnknown
		}
	}
	return kind
}

// HasConnectionToken reports whether a response has data of a scheme that authenticates its connection, which then is
// that of one client, and not only the name of such a scheme.
func HasConnectionToken(fields httpmessage.Fields) bool {
	for _, name := range [...]string{"Www-Authenticate", "Proxy-Authenticate", "Authentication-Info", "Proxy-Authentication-Info"} {
		for _, line := range fields.Lines(name) {
			for _, c := range challenges(line) {
				if c.isOfConnection() && !c.isName() {
					return true
				}
			}
		}
	}
	return false
}

// WithoutConnectionSchemes returns the lines of WWW-Authenticate without the challenges of schemes that authenticate a
// connection, and whether there was one.
func WithoutConnectionSchemes(lines []string) (rest []string, found bool) {
	for _, line := range lines {
		var others []string
		for _, c := range challenges(line) {
			if c.isOfConnection() {
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

// challenge is one of those in a line: RFC 9110 section 11.3.
type challenge struct {
	scheme   string
	elements []string // of the list: with its scheme and parameters
}

func (c challenge) isOfConnection() bool {
	return slices.Contains(connectionSchemes[:], strings.ToLower(c.scheme))
}

// isName reports whether it has neither data nor parameters.
func (c challenge) isName() bool { return len(c.elements) == 1 && len(c.elements[0]) == len(c.scheme) }

// challenges returns the challenges of a line. A comma is between two of them, and between the parameters of one: a
// token and "=" begin a parameter (RFC 9110 section 11.6.1).
func challenges(line string) (all []challenge) {
	list, begin := elements(line), 0
	for i, element := range list {
		end := 0
		for end < len(element) && isTokenOctet(element[end]) {
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

// elements returns the elements of a list that are not empty. A comma in a quoted string ends none: RFC 9110 sections
// 5.6.1 and 5.6.4.
func elements(line string) (all []string) {
	start, isQuoted, isEscaped := 0, false, false
	for i := range len(line) {
		switch c := line[i]; {
		case isEscaped:
			isEscaped = false
		case c == '\\' && isQuoted:
			isEscaped = true
		case c == '"':
			isQuoted = !isQuoted
		case c == ',' && !isQuoted:
			all = append(all, strings.Trim(line[start:i], " \t"))
			start = i + 1
		}
	}
	all = append(all, strings.Trim(line[start:], " \t"))
	return slices.DeleteFunc(all, func(element string) bool { return element == "" })
}

// isTokenOctet reports whether an octet may be in a token: RFC 9110 section 5.6.2.
func isTokenOctet(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
