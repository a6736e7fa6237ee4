package proxy

import (
	"context"
	"net/http"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// cached answers an admitted request from a cache, and reports whether it did.
func (x *exchange) cached() bool {
	h := x.handler
	if h.config.StartSpan != nil {
		x.untraced = h.config.SkipSpan != nil && h.config.SkipSpan()
		if !x.untraced {
			return false // the request has a span
		}
	}
	if x.request.Kind == route.KindName {
		return x.cachedName()
	}
	return x.stored()
}

// stored answers a request for a site or through the forward proxy with a stored response, and reports whether it did.
func (x *exchange) stored() bool {
	h, a := x.handler, &x.request
	if c, _ := x.in.Conn.Attached().(*connectionState); c != nil && c.servers.IsBound() {
		return false // a response from the cache must not be used on a connection bound to a server by its login
	}
	var set *forward.Site
	if a.Site != nil {
		set = &h.sites[a.Site.Index].Site
	}
	lines := x.header
	if x.siteHeader != nil && x.ofSite() {
		x.encoding, lines = h.config.Compress.NormalizeAcceptEncoding(x.header), x.siteHeader
	}
	found, ok := h.forward.Find(a.Key.String(), a.Spelling, set, lines, x.start)
	x.found = found
	if !ok || !x.verdict.Allows(found.ServerAddr().Addr()) {
		return false
	}
	unmodified := found.NotModified(x.header)
	var part forward.Part
	if x.uses&httpmessage.Ranged != 0 && !unmodified {
		part, ok = found.Part(x.in.Method, x.header)
		if !ok {
			return false
		}
	}
	return x.sendStored(found, part, unmodified)
}

// sendStored sends a stored response, or a part of it, and reports whether it did. It writes nothing if it
// returns false.
func (x *exchange) sendStored(found forward.Found, part forward.Part, unmodified bool) bool {
	status, reason, length := found.Status(), found.Reason(), found.Length()
	switch {
	case unmodified:
		status, reason, length = http.StatusNotModified, "", 0
	case part.Status != 0:
		status, reason, length = part.Status, "", part.Length()
	}
	var file forward.Content
	hasContent := !unmodified && part.Status != http.StatusRequestedRangeNotSatisfiable &&
		x.in.Method != http.MethodHead
	if hasContent {
		var ok bool
		if file, ok = x.openStored(found, part, length); !ok {
			return false
		}
		if file != nil {
			defer file.Close()
		}
	}
	found.CountHit()
	x.event.Cache, x.event.Rule = "hit", x.verdict.Rule()
	x.allowOrigin()
	x.scratch.Head = x.handler.forward.AppendStored(x.scratch.Head[:0], found, part, unmodified, &x.scratch.Text)
	x.WriteHeader(status, reason, x.scratch.Head)
	switch {
	case !hasContent:
	case file != nil:
		if err := file.SendTo(x, nil); err != nil {
			if !x.left {
				x.SourceFailed(err)
			}
			message.Abort(x)
		}
	default:
		_, _ = x.WriteBuffers(x.parts) // an error means only that the client disconnected
	}
	return true
}

// openStored finds the content of a stored response, or of a part of it, of length bytes: in x.parts if it is
// in memory, else in a file, which is sent over HTTP/1 only. It returns false if Begin cannot send the
// content without waiting.
func (x *exchange) openStored(found forward.Found, part forward.Part, length int64) (file forward.Content, ok bool) {
	if length > x.Available() {
		return nil, false
	}
	if part.Status != 0 {
		x.parts, ok = found.AppendBlocks(x.parts[:0], part)
		return nil, ok
	}
	blocks, ok := found.Blocks()
	if x.parts = append(x.parts[:0], blocks...); ok {
		return nil, true
	}
	if x.in.Major == 2 {
		return nil, false
	}
	return found.Open(context.Background())
}

// cachedName answers a request for the location of a name from the cache, and reports whether it did.
func (x *exchange) cachedName() bool {
	h, t := x.handler, &x.request.Target
	switch {
	case h.config.Finder == nil, !isPlainName(t), answer.MayWantDocument(x.header.List("Accept"), h.describes):
		return false
	case x.request.IsLink && !isDefaultLink(&x.request, x.header.Get("Accept")):
		return false
	}
	found, err, ok := h.config.Finder.Find(t.Query, x.start, x.name[:])
	switch {
	case !ok:
		return false
	case err != nil:
		return x.cachedRejection(err, found)
	}
	if _, ok := h.answers.Choice(found.Locations); !ok || !x.addComponents(&found) {
		return false
	}
	x.answerRequest = answer.Request{
		Target: t, Header: x.header, HTTP11: x.in.AtLeast(1, 1), IsName: true, IsLink: x.request.IsLink, Base: x.base(),
		Scratch: &x.scratch,
	}
	h.config.Finder.Used(nil)
	x.reply(h.answers.Redirect(&x.answerRequest, found))
	return true
}

// addComponents adds the components of the query (RFC 8141 section 2.3) to the location of a name. It reports
// false if there are several locations.
func (x *exchange) addComponents(found *resolver.Answer) bool {
	q := &x.request.Target.Query
	if !q.HasComponents() {
		return true
	}
	if len(found.Locations) > 1 {
		return false
	}
	x.location[0] = found.Locations[0]
	start, dst := x.scratch.Text.Begin()
	x.location[0].URI = x.scratch.Text.End(start, q.AppendLocation(dst, x.location[0].URI))
	found.Locations = x.location[:]
	return true
}

// isPlainName reports whether a target requests the location of a URN, or of a name of a web host, for which
// the reply is a plain redirect.
func isPlainName(t *route.Target) bool {
	return (t.Query.IsURN() || t.Form == route.FormHost) && t.Query.Service == resolver.I2L && !t.Identified &&
		t.Form != route.FormAPI && t.Form != route.FormMemento
}

// isDefaultLink reports whether a request for an identifier in a web address selects its default link
// whatever links the identifier has. It holds for other names, too.
func isDefaultLink(a *route.Request, accept string) bool {
	_, hasQuery := a.Target.Query.URI.Query()
	return !hasQuery && !answer.MayWantLinks(accept)
}
