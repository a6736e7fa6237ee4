package forward

import (
	"net/http"
	"net/netip"
	"strings"
)

// Forwarded is how the client is named to origins.
type Forwarded uint8

// The ways to name a client.
const (
	ForwardedTransparent Forwarded = iota // what the client sends is passed on, and nothing is added
	ForwardedOff                          // what the client sends is removed
	ForwardedStandard                     // Forwarded is added: RFC 7239
	ForwardedFor                          // X-Forwarded-For is added
	ForwardedNothing                      // the server of a site is told neither of the client, nor how it came
)

// forwarded returns how clients are named to origins, or to the servers of a site.
func (p *Proxy) forwarded(site *Site) Forwarded {
	if site != nil {
		return site.Forwarded
	}
	return p.config.Forwarded
}

// consume returns a request without the fields that are not passed on: what is left is of the client, and all of it may
// decide what an origin answers.
//
// Fields of a trusted proxy that name the client, and how it came, are made anew from what urnd knows by them. What
// another client says of how it came is not passed on to servers of sites, which believe it, though it is not in the key. Proxy is never
// passed on: there is no such field, and CGI makes HTTP_PROXY of it (CVE-2016-5385). Servers of sites get names of letters,
// digits and hyphens, as nginx passes them: CGI (RFC 3875 section 4.1.18), WSGI and PHP make one variable of X-A, X_A and X.A,
// so that a field would stand for another one, which urnd has removed, made or keyed.
func (p *Proxy) consume(r *Request) *Request {
	if p.passesAll(r, r.Header) {
		return r
	}
	left := *r
	left.Request = r.WithContext(r.Context()) // a copy: the caller logs what was sent
	left.Header = make(http.Header, len(r.Header))
	for name, lines := range r.Header {
		switch {
		case p.passes(r, name):
			left.Header[name] = lines
		case r.Trusted && isClientField(name) && !r.Fetched: // what is fetched has no fields of the client
			left.consumed = append(left.consumed, name)
		}
	}
	return &left
}

// passes reports whether a field of a request is passed on.
func (p *Proxy) passes(r *Request, name string) bool {
	switch {
	case name == "Proxy", r.Trusted && isOfProxy(name), r.isGateway() && isOfProxy(name) && name != "X-Forwarded-For" && name != "X-Real-Ip":
		return false
	default:
		return !r.isGateway() || isPlain(name, p.config.Underscores)
	}
}

// passesAll reports whether all of some fields of a request are passed on.
func (p *Proxy) passesAll(r *Request, header http.Header) bool {
	for name := range header {
		if !p.passes(r, name) {
			return false
		}
	}
	return true
}

// isOfProxy reports whether a trusted proxy sets a field to tell of the client and its request.
func isOfProxy(name string) bool {
	const prefix = "X-Forwarded-"
	name = strings.ReplaceAll(name, "_", "-")
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) || strings.EqualFold(name, "X-Real-IP") || strings.EqualFold(name, "Forwarded")
}

// isClientField reports whether a field names the client.
func isClientField(name string) bool {
	return name == "Forwarded" || name == "X-Forwarded-For" || name == "X-Real-Ip"
}

// isPlain reports whether a name has only letters, digits and hyphens.
func isPlain(name string, underscores bool) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_' && underscores:
		default:
			return false
		}
	}
	return true
}

// nameClient sets the fields that name the client to origins.
func (p *Proxy) nameClient(r *Request, header http.Header) {
	switch p.forwarded(r.Site) {
	case ForwardedOff, ForwardedNothing:
		for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Real-Ip"} {
			delete(header, name)
		}
	case ForwardedStandard:
		header["Forwarded"] = appended(r.Header["Forwarded"], r.element())
	case ForwardedFor:
		if r.Client.IsValid() {
			header["X-Forwarded-For"] = appended(r.Header["X-Forwarded-For"], r.Client.String())
		}
	case ForwardedTransparent:
		for _, name := range r.consumed {
			if name == "Forwarded" {
				header[name] = []string{r.element()}
			} else if r.Client.IsValid() {
				header[name] = []string{r.Client.String()}
			}
		}
	}
}

// nameSite tells the server of a site how the client reached it, as far as the key says it: else responses that differ by
// that would be stored as one.
func (p *Proxy) nameSite(r *Request, header http.Header) {
	if p.forwarded(r.Site) == ForwardedNothing {
		return
	}
	authority, _ := r.Key.Authority()
	port, _ := r.Key.Port()
	if port == "" {
		port = "80"
		if r.Key.Scheme() == "https" {
			port = "443"
		}
	}
	values := []string{r.Key.Scheme(), authority, port}
	for i, name := range [...]string{"X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port"} {
		header[name] = values[i : i+1 : i+1]
	}
}

// element returns the element of Forwarded: RFC 7239 section 4. It says to the server of a site how the client reached that,
// as the key has it.
func (r *Request) element() string {
	element := "for=" + node(r.Client)
	if !r.isGateway() {
		return element
	}
	authority, _ := r.Key.Authority()
	if strings.ContainsAny(authority, ":[") { // no token
		authority = `"` + authority + `"`
	}
	return element + ";host=" + authority + ";proto=" + r.Key.Scheme()
}

// appended returns a list with one more line, in memory of its own.
func appended(lines []string, line string) []string {
	return append(lines[:len(lines):len(lines)], line)
}

// node returns a client as Forwarded has it: RFC 7239 section 6.
func node(client netip.Addr) string {
	switch {
	case !client.IsValid():
		return "unknown"
	case client.Is6():
		return `"[` + client.WithZone("").String() + `]"`
	default:
		return client.String()
	}
}
