package route

import "strings"

// ownBase caches the URL of this server by the host of the last request, which is mostly that of the next one, too.
type ownBase struct{ scheme, host, text string }

// Base returns the absolute URL of this server, without a slash at its end: PublicURL, or else one with the
// given Host; "" if that is not a valid host.
func (p *Endpoint) Base(host string) string {
	if p.PublicURL != "" {
		return p.PublicURL
	}
	scheme, last := p.scheme(), &p.base
	if last.host != host || last.scheme != scheme {
		text := scheme + "://" + host // host may refer to the read buffer of the connection
		*last = ownBase{text: text, scheme: text[:len(scheme)], host: text[len(text)-len(host):]}
		if !isHostText(host) {
			last.text = ""
		}
	}
	return last.text
}

// isHostText reports whether a text is a valid host, with or without port (RFC 3986 section 3.2.2), and so
// may be used in the URLs of Link fields.
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
	return host != "" && len(text) <= most && strings.Trim(host, others) == "" &&
		(!hasPort || port != "" && strings.Trim(port, digits) == "")
}
