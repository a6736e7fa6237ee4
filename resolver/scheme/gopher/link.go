package gopher

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// link returns the URI of an item in normal form, "" if the item has no safe and valid target.
func link(i item) string {
	switch i.kind {
	case typeInfo, typeError, typeCSO:
		return ""
	case typeTelnet, typeTN3270:
		return sessionLink(i.kind, i.selector, i.host, i.port)
	case typeHTML:
		if target, ok := webSelector(i.selector); ok {
			location, _ := webLink(target) // "" if not allowed
			return location
		}
	}
	server, ok := hostPort(i.host, i.port, defaultPort)
	if !ok || server == "" {
		return ""
	}
	suffix := ""
	if i.extra == "?" { // RFC 4266 section 2.5
		suffix = encodedTab + encodedTab + "?"
	}
	return valid("gopher://" + server + "/" + escape(string([]byte{i.kind})) + escape(i.selector) + suffix)
}

// sessionLink returns the URI of a session; the selector is the user: RFC 1436 section 3.8, RFC 4248 and RFC
// 6270.
func sessionLink(kind byte, user, host, port string) string {
	name := "telnet"
	if kind == typeTN3270 {
		name = "tn3270"
	}
	if port == "" || port == "0" {
		port = "23" // the default port, which the normal form omits
	}
	server, ok := hostPort(host, port, "23")
	if !ok {
		return ""
	}
	if user != "" {
		server = strings.ReplaceAll(escape(user), "/", "%2F") + "@" + server
	}
	return valid(name + "://" + server + "/")
}

// webLink returns the URL in a selector, in normal form. The error is that of resolver.CheckLocation: links
// that run scripts or read local files of the client are never followed.
func webLink(target string) (string, error) {
	u, err := uri.FromIRI(target)
	if err != nil {
		// Its text may contain a password.
		return "", scheme.PolicyDenial(http.StatusNotFound, "gopher_link", "link from the server is not a valid URL")
	}
	location := u.WithoutPassword().Normalize().String()
	if err := checkLocation(location); err != nil {
		return "", err
	}
	return location, nil
}

// hostPort returns the authority for a host and port; usual is the default port, which is omitted. ok is false
// for hosts that do not exist, which menus have in lines without a target.
func hostPort(host, port, usual string) (string, bool) {
	switch strings.ToLower(host) {
	case "", "error.host", "null.host", "fake", "(null)", "(false)", "invalid", "none":
		return "", false
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return "", false
	}
	if addr, err := netip.ParseAddr(trimBrackets(host)); err == nil && addr.Is6() && addr.Zone() == "" {
		host = "[" + addr.String() + "]"
	} else if strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") != "" {
		return "", false
	}
	if text := strconv.FormatUint(number, 10); text != usual {
		host += ":" + text
	}
	return host, true
}

// trimBrackets returns the host without the brackets of an IPv6 address.
func trimBrackets(host string) string {
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// valid returns a URI in normal form, "" if it is malformed.
func valid(text string) string {
	u, err := uri.Parse(text)
	if err != nil || u.Check() != nil {
		return ""
	}
	return u.Normalize().String()
}

// escape percent-encodes all bytes except unreserved ones and slashes. So a request for the URI sends back the
// bytes that the server sent, even "?" and "#".
func escape(s string) string { return uri.Escape(s, "/") }
