package forward

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
)

// outgoing returns the header of a request that is passed on.
func (p *Proxy) outgoing(r *Request, header http.Header) http.Header {
	header = httpcache.EndToEnd(header)
	if !r.isWeb() {
		return header
	}
	var own httpmessage.Fields
	p.config.Via.AddTo(&own)
	for _, f := range own {
		header[f.Name] = append(header[f.Name], f.Value)
	}
	if traceparent := message.TraceparentOf(r.Context()); traceparent != "" {
		header[httpmessage.TraceparentField] = []string{traceparent}
	}
	if !r.Fetched && httpguts.HeaderValuesContainsToken(r.Header["Te"], "trailers") {
		header["Te"] = []string{"trailers"}
		header["Connection"] = []string{"TE"} // RFC 9110 section 10.1.4
	}
	p.nameClient(r, header)
	if r.isGateway() {
		p.nameSite(r, header)
	}
	return header
}

// selecting returns the fields of a request as the origin gets them, by which it may select a response
// (RFC 9111 section 4.1): without those of the connection, and with those that name the client.
func (p *Proxy) selecting(r *Request) http.Header {
	if r.Fetched || !r.isWeb() {
		return p.askedOf(r)
	}
	if p.forwarded(r.Site) == ForwardedTransparent && len(r.consumed) == 0 && len(r.Header["Connection"]) == 0 && len(r.Header["Proxy-Authorization"]) == 0 {
		return r.Header
	}
	header := httpcache.EndToEnd(r.Header)
	p.nameClient(r, header)
	return header
}

// added returns the fields that selecting has added, and that no client has sent: they name the client.
func (p *Proxy) added(r *Request) []string {
	if p.forwarded(r.Site) == ForwardedTransparent && len(r.consumed) == 0 {
		return nil
	}
	var names []string
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Real-Ip"} {
		if len(r.Header[name]) == 0 {
			names = append(names, name)
		}
	}
	return names
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
