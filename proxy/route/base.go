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
		text := scheme + "://" + host // which may lie over the buffer of a connection
		*last = ownBase{text: text, scheme: text[:len(scheme)], host: text[len(text)-len(host):]}
		if !isHostText(host) {
			last.text = ""
		}
	}
	return last.text
}

// isHostText reports whether a text is a host, with or without port, as the URLs of Link fields may have it: RFC 3986 section 3.2.2.
func isHostText(text string) bool {
	const most, digits = 255 + len(":65535"), "0123456789"
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits
	host, port, hasPort := strings.Cut(text, ":")
	others := letters + "-._~"
	if strings.HasPrefix(text, "[") { // IPv6
		end := strings.IndexByte(text, ']')
		host, others = text[1:max(end, 1)], "0123456789abcdefABCDEF:."
		port, hasPort = strings.CutPrefix(text[end+1:], ":")
		if port != "" && !hasPort {
			return false
		}
	}
	return host != "" && len(text) <= most && strings.Trim(host, others) == "" && (!hasPort || port != "" && strings.Trim(port, digits) == "")
}
