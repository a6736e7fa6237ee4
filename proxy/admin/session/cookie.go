package session

import (
	"net"
	"net/http"
	"strings"
)

// hostPrefix begins the name of a cookie that browsers take by TLS alone, from the host to which they send it: RFC 6265bis
// section 4.1.3.2.
const hostPrefix = "__Host-"

// name returns the name of the cookie for a host, as in Host. The port is in it: browsers send cookies to all ports of a host, and
// each may be an urnd.
func name(host string, isSecure bool) string {
	made := "urnd"
	if _, port, err := net.SplitHostPort(host); err == nil && strings.Trim(port, "0123456789") == "" {
		made += "-" + port
	}
	if isSecure {
		made = hostPrefix + made
	}
	return made
}

// CookieOf returns the value of the cookie of a request, which has come by TLS or not; "" for none.
func CookieOf(r *http.Request, isSecure bool) string {
	c, err := r.Cookie(name(r.Host, isSecure))
	if err != nil {
		return ""
	}
	return c.Value
}

// Cookie returns the cookie of a client as the request has it after it was set.
func Cookie(r *http.Request, value string, isSecure bool) *http.Cookie {
	return &http.Cookie{Name: name(r.Host, isSecure), Value: value} //nolint:gosec // it is not sent to a client
}

// SetCookie returns the value of Set-Cookie that gives a cookie to who has sent a request, or takes it away where the value is "". It ends
// with the browser; no script reads it, and no other site makes a browser send it.
func SetCookie(r *http.Request, value string, isSecure bool) string {
	//nolint:gosec // Secure is not for loopback without TLS
	c := http.Cookie{Name: name(r.Host, isSecure), Value: value, Path: "/", HttpOnly: true, Secure: isSecure, SameSite: http.SameSiteStrictMode}
	if value == "" {
		c.MaxAge = -1
	}
	return c.String()
}

// cookieLanguage is the name of the cookie that has the language that was chosen, which is no secret.
const cookieLanguage = "urnd-lang"

// Language returns the word of the language that the browser of a request has chosen before, "" for none.
func Language(r *http.Request) string {
	c, err := r.Cookie(cookieLanguage)
	if err != nil {
		return ""
	}
	return c.Value
}

// SetLanguage returns the value of Set-Cookie that keeps a language for a year.
func SetLanguage(word string, isSecure bool) string {
	const year = 365 * 24 * 60 * 60
	//nolint:gosec // Secure is not for loopback without TLS
	c := http.Cookie{
		Name: cookieLanguage, Value: word, Path: "/", MaxAge: year, HttpOnly: true, Secure: isSecure, SameSite: http.SameSiteLaxMode,
	}
	return c.String()
}
