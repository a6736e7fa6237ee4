package forward

import (
	"context"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
)

// outgoing returns the fields of a forwarded request, as a copy that may use the memory of room.
func (p *Proxy) outgoing(ctx context.Context, r *Request, fields, room httpmessage.Fields) httpmessage.Fields {
	fields = httpcache.AppendEndToEnd(room, fields)
	if !r.isWeb() {
		return fields
	}
	p.config.Via.AddTo(&fields)
	message.SetTraceparent(ctx, &fields)
	if !r.Fetched && httpguts.HeaderValuesContainsToken(r.Fields.Values("Te"), "trailers") {
		fields.Set("TE", "trailers")
		fields.Set("Connection", "TE") // RFC 9110 section 10.1.4
	}
	p.nameClient(r, &fields)
	if r.isGateway() {
		p.nameSite(r, &fields)
	}
	return fields
}

// selecting returns the fields by which the origin may select a response (RFC 9111 section 4.1), as it gets
// them: without hop-by-hop fields, and with those that identify the client.
func (p *Proxy) selecting(r *Request) httpmessage.Fields {
	if r.Fetched || !r.isWeb() {
		return p.fetchFields(r)
	}
	if p.forwarded(r.Site) == ForwardedTransparent && len(r.consumed) == 0 && !r.Fields.Has("Connection") &&
		!r.Fields.Has("Proxy-Authorization") {
		return r.Fields
	}
	fields := httpcache.EndToEnd(r.Fields)
	p.nameClient(r, &fields)
	return fields
}

// added returns the names of the fields that selecting adds and no client has sent: they identify the client.
func (p *Proxy) added(r *Request) (names []string) {
	if r.isGateway() {
		for _, f := range r.Site.Request.Set {
			names = append(names, f.Name)
		}
	}
	if p.forwarded(r.Site) == ForwardedTransparent && len(r.consumed) == 0 {
		return names
	}
	for _, name := range p.naming {
		if !r.Fields.Has(name) {
			names = append(names, name)
		}
	}
	return names
}

// upgradeOf returns the protocols that a request wants to switch to, "" for none (RFC 9110 section 7.8). h2c
// is not forwarded, as it concerns the connection: requests in a tunnel would evade the rules. Nor are upgrades of
// unsafe requests: these go through the cache, to invalidate stored responses.
func upgradeOf(r *Request) string {
	if r.Protocol != "" {
		return r.Protocol
	}
	if r.Method != http.MethodGet || r.Body != nil && r.ContentLength != 0 || r.Major != 1 || !r.isAtLeast11() ||
		!httpguts.HeaderValuesContainsToken(r.Fields.Values("Connection"), "Upgrade") {
		return ""
	}
	var protocols []string
	for protocol := range strings.SplitSeq(r.Fields.List("Upgrade"), ",") {
		protocol = strings.TrimSpace(protocol)
		if name, _, _ := strings.Cut(protocol, "/"); name != "" && !strings.EqualFold(name, "h2c") {
			protocols = append(protocols, protocol)
		}
	}
	return strings.Join(protocols, ", ")
}
