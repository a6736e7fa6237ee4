package forward

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Forwarded selects how the client is identified to origins.
type Forwarded uint8

// The values of Forwarded.
const (
	ForwardedTransparent Forwarded = iota // the client's fields are forwarded, and none is added
	ForwardedOff                          // the client's fields are removed
	ForwardedStandard                     // Forwarded is extended (RFC 7239)
	ForwardedFor                          // X-Forwarded-For is extended
	ForwardedNothing                      // a site's server learns neither the client nor its scheme and host
)

// forwarded returns how clients are identified to origins, or to the servers of a site.
func (p *Proxy) forwarded(site *Site) Forwarded {
	if site != nil {
		return site.Forwarded
	}
	return p.config.Forwarded
}

// consume removes the fields of a request that must not be forwarded. Those that remain come from the client,
// and any of them may select the response of an origin.
//
// Fields of a trusted proxy about the client, its scheme and its host are generated anew from their parsed
// values. Other clients' fields about scheme and host are not forwarded to servers of sites, which would
// trust them although they are not part of the cache key. The field Proxy is never forwarded: it is not a
// standard field, and CGI turns it into HTTP_PROXY (CVE-2016-5385). Servers of sites only get names of
// letters, digits and hyphens, as with nginx: CGI (RFC 3875 section 4.1.18), WSGI and PHP map X-A, X_A and
// X.A to one variable, so that a field could replace one that urnd has removed, generated or keyed.
func (p *Proxy) consume(r *Request) {
	isPassed := func(f httpmessage.Field) bool { return p.passes(r, f.Name) }
	if !slices.ContainsFunc(r.Fields, func(f httpmessage.Field) bool { return !isPassed(f) }) {
		return
	}
	if r.Trusted && !r.Fetched { // /fetch forwards no fields about the client
		for _, name := range p.naming {
			if r.Fields.Has(name) && !p.passes(r, name) {
				r.consumed = append(r.consumed, name)
			}
		}
	}
	r.Fields = r.Fields.Filter(isPassed)
}

// passes reports whether a field of a request is forwarded.
func (p *Proxy) passes(r *Request, name string) bool {
	f := httpmessage.Field{Name: name}
	switch {
	case httpmessage.UseOf(name)&httpmessage.Dropped != 0:
		return false
	case fromProxy(name) && (r.Trusted || r.isGateway() && !f.HasName("X-Forwarded-For") && !f.HasName("X-Real-IP")):
		return false
	default:
		return !r.isGateway() || isPlain(name, p.config.Underscores)
	}
}

// passesInTrailer reports whether a trailer field of a request is forwarded. Fields about the client and its request
// never are, since recipients may merge trailers into the header (RFC 9110 section 6.5.1), and those that a site sets
// or removes are not either.
func (p *Proxy) passesInTrailer(r *Request, name string) bool {
	return p.passes(r, name) && !fromProxy(name) && (!r.isGateway() || !r.Site.Request.concerns(name))
}

// fromProxy reports whether trusted proxies use a field to describe the client and its request, or
// applications take the field for such a one.
func fromProxy(name string) bool {
	return httpmessage.UseOf(strings.ReplaceAll(name, "_", "-"))&httpmessage.FromProxy != 0
}

// isPlain reports whether a name consists of letters, digits and hyphens.
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

// nameClient sets the fields that identify the client to origins.
func (p *Proxy) nameClient(r *Request, fields *httpmessage.Fields) {
	switch p.forwarded(r.Site) {
	case ForwardedOff, ForwardedNothing:
		for _, name := range p.naming {
			fields.Del(name)
		}
	case ForwardedStandard:
		extend(fields, "Forwarded", r.Fields.Values("Forwarded"), r.element())
	case ForwardedFor:
		if r.Client.IsValid() {
			extend(fields, "X-Forwarded-For", r.Fields.Values("X-Forwarded-For"), r.Client.String())
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

// nameSite sets the fields that tell a site's server the scheme and host of the request, as in the key:
// otherwise responses that differ by them would be stored as one.
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

// element returns the element of Forwarded (RFC 7239 section 4). For a site's server it includes the host and
// scheme, as in the key.
func (r *Request) element() string {
	element := "for=" + node(r.Client)
	if !r.isGateway() {
		return element
	}
	authority, _ := r.Key.Authority()
	if strings.ContainsAny(authority, ":[") { // not a token
		authority = `"` + authority + `"`
	}
	return element + ";host=" + authority + ";proto=" + r.Key.Scheme()
}

// extend sets a field to some lines and one more.
func extend(fields *httpmessage.Fields, name string, lines []string, more string) {
	fields.Del(name)
	for _, line := range lines {
		fields.Add(name, line)
	}
	fields.Add(name, more)
}

// node returns the node identifier of a client in Forwarded (RFC 7239 section 6).
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
