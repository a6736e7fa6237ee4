package forward

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/proxy/message"
)

// hopFields are the fields of one connection, which are not forwarded: RFC 9110 section 7.6.1. Those
// for the authentication of a proxy are consumed by it.
var hopFields = [...]string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Transfer-Encoding", "Upgrade", "Trailer",
	"Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info", "Http2-Settings",
}

// passed returns a header without the fields of the connection.
func passed(header http.Header) http.Header {
	named := header["Connection"]
	out := make(http.Header, len(header)+4)
	for name, lines := range header {
		if slices.Contains(hopFields[:], name) || len(named) > 0 && httpguts.HeaderValuesContainsToken(named, name) {
			continue
		}
		out[name] = lines[:len(lines):len(lines)]
	}
	return out
}

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
	header = passed(header)
	p.config.Via.AddTo(header)
	message.SetTraceparent(r.Context(), header)
	if httpguts.HeaderValuesContainsToken(r.Header["Te"], "trailers") {
		header["Te"] = []string{"trailers"}
		header["Connection"] = []string{"TE"} // RFC 9110 section 10.1.4
	}
	switch p.config.Forwarded {
	case ForwardedOff:
		delete(header, "Forwarded")
		delete(header, "X-Forwarded-For")
	case ForwardedStandard:
		header["Forwarded"] = append(header["Forwarded"], "for="+node(r.Client))
	case ForwardedFor:
		if r.Client.IsValid() {
			header["X-Forwarded-For"] = append(header["X-Forwarded-For"], r.Client.String())
		}
	case ForwardedTransparent:
	}
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

// unkeyed are the fields by which some origins select another resource than the target URI names,
// or another method: their responses must not be cached by that URI (cache poisoning).
var unkeyed = [...]string{
	"X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Forwarded-Port", "X-Forwarded-Prefix",
	"X-Forwarded-Server", "X-Forwarded-Ssl", "X-Host", "X-Original-Host", "X-Original-Url", "X-Rewrite-Url",
	"X-Http-Method-Override", "X-Http-Method", "X-Method-Override",
}

func hasUnkeyed(header http.Header) bool {
	for _, name := range unkeyed {
		if len(header[name]) > 0 {
			return true
		}
	}
	for _, line := range header["Forwarded"] { // RFC 7239 sections 5.3 and 5.4
		if line = strings.ToLower(line); strings.Contains(line, "host=") || strings.Contains(line, "proto=") {
			return true
		}
	}
	return false
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
