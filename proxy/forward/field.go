package forward

import (
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/proxy/message"
)

// Forwarded is how the client is named to origins.
type Forwarded uint8

// The ways to name a client.
const (
	ForwardedTransparent Forwarded = iota // what the client sends is passed on, and nothing is added
	ForwardedOff                          // what the client sends is removed
	ForwardedStandard                     // Forwarded is added: RFC 7239
	ForwardedFor                          // X-Forwarded-For is added
)

// outgoing returns the header of a request that is passed on.
func (p *Proxy) outgoing(r *Request, header http.Header) http.Header {
	header = httpcache.EndToEnd(header)
	if !r.isWeb() {
		return header
	}
	p.config.Via.AddTo(header)
	message.SetTraceparent(r.Context(), header)
	if !r.Fetched && httpguts.HeaderValuesContainsToken(r.Header["Te"], "trailers") {
		header["Te"] = []string{"trailers"}
		header["Connection"] = []string{"TE"} // RFC 9110 section 10.1.4
	}
	p.nameClient(r, header)
	return header
}

// nameClient sets the fields that name the client to origins.
func (p *Proxy) nameClient(r *Request, header http.Header) {
	switch p.config.Forwarded {
	case ForwardedOff:
		delete(header, "Forwarded")
		delete(header, "X-Forwarded-For")
	case ForwardedStandard:
		header["Forwarded"] = append(r.Header["Forwarded"][:len(r.Header["Forwarded"]):len(r.Header["Forwarded"])], "for="+node(r.Client))
	case ForwardedFor:
		if r.Client.IsValid() {
			header["X-Forwarded-For"] = append(r.Header["X-Forwarded-For"][:len(r.Header["X-Forwarded-For"]):len(r.Header["X-Forwarded-For"])], r.Client.String())
		}
	case ForwardedTransparent:
	}
}

// selecting returns the fields of a request as the origin gets them, by which it may select a response
// (RFC 9111 section 4.1): without those of the connection, and with those that name the client.
func (p *Proxy) selecting(r *Request) http.Header {
	if r.Fetched || !r.isWeb() {
		return p.askedOf(r)
	}
	if p.config.Forwarded == ForwardedTransparent && len(r.Header["Connection"]) == 0 && len(r.Header["Proxy-Authorization"]) == 0 {
		return r.Header
	}
	header := httpcache.EndToEnd(r.Header)
	p.nameClient(r, header)
	return header
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

// added returns the field that selecting has added, and that no client has sent: it names the client.
func (p *Proxy) added(r *Request) []string {
	name := ""
	switch p.config.Forwarded {
	case ForwardedStandard:
		name = "Forwarded"
	case ForwardedFor:
		name = "X-Forwarded-For"
	case ForwardedTransparent, ForwardedOff:
	}
	if name == "" || len(r.Header[name]) > 0 {
		return nil
	}
	return []string{name}
}

// upgradeOf returns the protocol that a request asks to change to, "" for none: RFC 9110 section 7.8.
// That to HTTP/2 is not forwarded: it is one of the connection. Nor is that of a request which may
// change something: it goes through the cache, and invalidates what is stored.
func upgradeOf(r *http.Request) string {
	if r.Method != http.MethodGet || hasBody(r) || r.ProtoMajor != 1 || !r.ProtoAtLeast(1, 1) ||
		!httpguts.HeaderValuesContainsToken(r.Header["Connection"], "Upgrade") {
		return ""
	}
	if protocol := strings.Join(r.Header["Upgrade"], ", "); !strings.EqualFold(protocol, "h2c") {
		return protocol
	}
	return ""
}

// announced returns the names of the trailer fields that are known before the body is read: from then
// on they are written to, by whoever reads it.
func announced(trailer http.Header) []string {
	if len(trailer) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(trailer))
}
