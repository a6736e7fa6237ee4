package forward

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
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

// consume removes the fields of a request that are not passed on: what is left is of the client, and all of it may
// decide what an origin answers.
//
// Fields of a trusted proxy that name the client, and how it came, are made anew from what urnd knows by them. What
// another client says of how it came is not passed on to servers of sites, which believe it, though it is not in the key. Proxy is never
// passed on: there is no such field, and CGI makes HTTP_PROXY of it (CVE-2016-5385). Servers of sites get names of letters,
// digits and hyphens, as nginx passes them: CGI (RFC 3875 section 4.1.18), WSGI and PHP make one variable of X-A, X_A and X.A,
// so that a field would stand for another one, which urnd has removed, made or keyed.
func (p *Proxy) consume(r *Request) {
	isPassed := func(f httpmessage.Field) bool { return p.passes(r, f.Name) }
	if !slices.ContainsFunc(r.Fields, func(f httpmessage.Field) bool { return !isPassed(f) }) {
		return
	}
	if r.Trusted && !r.Fetched { // what is fetched has no fields of the client
		for _, name := range p.naming {
			if r.Fields.Has(name) && !p.passes(r, name) {
				r.consumed = append(r.consumed, name)
			}
		}
	}
	r.Fields = r.Fields.Filter(isPassed)
}

// passes reports whether a field of a request is passed on.
func (p *Proxy) passes(r *Request, name string) bool {
	f := httpmessage.Field{Name: name}
	switch {
	case httpmessage.UseOf(name)&httpmessage.Dropped != 0:
		return false
	case fromProxy(name) && (r.Trusted || r.isGateway() && !f.Is("X-Forwarded-For") && !f.Is("X-Real-IP")):
		return false
	default:
		return !r.isGateway() || isPlain(name, p.config.Underscores)
	}
}

// fromProxy reports whether a trusted proxy sets a field to tell of the client and its request, or an application takes
// the field for one of these.
func fromProxy(name string) bool {
	return httpmessage.UseOf(strings.ReplaceAll(name, "_", "-"))&httpmessage.FromProxy != 0
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
func (p *Proxy) nameClient(r *Request, fields *httpmessage.Fields) {
	switch p.forwarded(r.Site) {
	case ForwardedOff, ForwardedNothing:
		for _, name := range p.naming {
			fields.Del(name)
		}
	case ForwardedStandard:
		extend(fields, "Forwarded", r.Fields.Lines("Forwarded"), r.element())
	case ForwardedFor:
		if r.Client.IsValid() {
			extend(fields, "X-Forwarded-For", r.Fields.Lines("X-Forwarded-For"), r.Client.String())
		}
	case ForwardedTransparent:
		for _, name := range r.consumed {
			if name == "Forwarded" {
				fields.Set(name, r.element())
			} else if r.Client.IsValid() {
				fields.Set(name, r.Client.String())
			}
		}
	}
}

// nameSite tells the server of a site how the client reached it, as far as the key says it: else responses that differ by
// that would be stored as one.
func (p *Proxy) nameSite(r *Request, fields *httpmessage.Fields) {
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
	fields.Set("X-Forwarded-Proto", r.Key.Scheme())
	fields.Set("X-Forwarded-Host", authority)
	fields.Set("X-Forwarded-Port", port)
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

// extend makes a field have some lines, and one more.
func extend(fields *httpmessage.Fields, name string, lines []string, more string) {
	fields.Del(name)
	for _, line := range lines {
		fields.Add(name, line)
	}
	fields.Add(name, more)
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
