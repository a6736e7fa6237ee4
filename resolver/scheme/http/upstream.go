package http

import "encoding/base64"

// Upstream is a proxy through which resources are fetched. It is comparable.
type Upstream struct {
	Scheme         string // "http", "https" or "socks5"
	Address        string // host and port
	User, Password string // no credentials where both are empty
}

// isHTTP reports whether the proxy is one of HTTP.
func (u Upstream) isHTTP() bool { return u.Scheme == "http" || u.Scheme == "https" }

// appendCredentials appends Proxy-Authorization, if there are credentials: RFC 7617 section 2.
func (u Upstream) appendCredentials(b []byte) []byte {
	if u.User == "" && u.Password == "" {
		return b
	}
	return appendField(b, "Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User+":"+u.Password)))
}
