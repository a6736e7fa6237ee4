package session

import (
	"net"
	"net/http"
	"strings"
)

// hostPrefix is the prefix of cookies that browsers accept only over TLS, from the host to which they return
// it: RFC 6265bis section 4.1.3.2.
const hostPrefix = "__Host-"

// name returns the name of the session cookie for a host, as in Host. It contains the port: browsers send
// cookies to all ports of a host, and each may be another urnd.
func name(host string, secure bool) string {
	made := "urnd"
	if _, port, err := net.SplitHostPort(host); err == nil && strings.Trim(port, "0123456789") == "" {
		made += "-" + port
	}
	if secure {
		made = hostPrefix + made
	}
	return made
}

// CookieOf returns the value of the session cookie of a request, "" for none. secure is true if the request
// was received over TLS.
func CookieOf(r *http.Request, secure bool) string {
	c, err := r.Cookie(name(r.Host, secure))
	if err != nil {
		return ""
	}
	return c.Value
}

// Cookie returns the session cookie as a later request of the client carries it.
func Cookie(r *http.Request, value string, secure bool) *http.Cookie {
	return &http.Cookie{Name: name(r.Host, secure), Value: value} //nolint:gosec // it is not sent to a client
}

// SetCookie returns the value of Set-Cookie that sets the session cookie, or deletes it where the value is
// "". The cookie ends with the browser session; scripts cannot read it, and it is not sent with cross-site
// requests.
func SetCookie(r *http.Request, value string, secure bool) string {
	//nolint:gosec // Secure is not for loopback without TLS
	c := http.Cookie{
		Name: name(r.Host, secure), Value: value, Path: "/", HttpOnly: true, Secure: secure,
		SameSite: http.SameSiteStrictMode,
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c.String()
}

// cookieLanguage is the name of the cookie with the selected language, which is no secret.
const cookieLanguage = "urnd-lang"

// Language returns the language in the cookie of a request, "" for none.
func Language(r *http.Request) string {
	c, err := r.Cookie(cookieLanguage)
	if err != nil {
		return ""
	}
	return c.Value
}

// SetLanguage returns the value of Set-Cookie that stores a language for a year.
func SetLanguage(word string, secure bool) string {
	const year = 365 * 24 * 60 * 60
	//nolint:gosec // Secure is not for loopback without TLS
	c := http.Cookie{
		Name: cookieLanguage, Value: word, Path: "/", MaxAge: year, HttpOnly: true, Secure: secure,
		SameSite: http.SameSiteLaxMode,
	}
	return c.String()
}
