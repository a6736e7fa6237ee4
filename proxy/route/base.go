package route

import "strings"

// ownBase is the URL of this server by the host of the last request, which mostly is that of the next one, too.
type ownBase struct{ scheme, host, text string }

// Base returns the absolute URL of this server for who has asked a host, without a slash at its end: the one that is configured, and else the
// one that the client has used; "" where that is none.
func (p *Place) Base(host string) string {
	if p.PublicURL != "" {
		return p.PublicURL
	}
	scheme, last := p.scheme(), &p.base
	if last.host != host || last.scheme != scheme {
		*last = ownBase{scheme: strings.Clone(scheme), host: strings.Clone(host)}
		if isHostText(host) {
			last.text = last.scheme + "://" + last.host
		}
	}
	return last.text
}

// isHostText reports whether a text is a host, with or without port, as URLs may have it: RFC 3986 section 3.2.2, without what is quoted
// in a Link field.
func isHostText(host string) bool {
	const most, others = 255 + len(":65535"), "-._~:[]"
	if host == "" || len(host) > most {
		return false
	}
	for i := range len(host) {
		c := host[i]
		isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !isLetter && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}
