package proxy

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
)

// Cross-origin requests: the Fetch standard section 3.2. Pages of other sites may read what is
// public here: answers, lists, descriptions and the OpenAPI document.

// anyOrigin allows all origins.
const anyOrigin = "*"

// isShared reports whether pages of other sites may read the reply to a request, of which err
// says why it is not valid. Replies about URLs are for the clients of the proxy alone.
func (h *Handler) isShared(request *message.Request, err error) bool {
	if err == nil && !request.Query.IsURN() && !request.Identified && !h.config.Names.Owns(request.Query.URI) {
		return false
	}
	switch service := request.Query.Service; request.Form {
	case message.FormAPI:
		return true
	case message.FormTHTTP, message.FormPath, message.FormTarget:
		return service != resolver.I2L && service != resolver.I2R && service != resolver.I2Rs
	default:
		return false
	}
}

// allowOrigin lets the page that sent a request read the reply, if the configuration allows its
// origin, and reports whether it does. Where not everybody may resolve names, a page in the
// browser of somebody who may must be named.
func (h *Handler) allowOrigin(x *exchange) bool {
	origin := x.request.Header["Origin"]
	header := x.Header()
	allowed := h.config.Access.Origins
	everybody := slices.ContainsFunc(h.config.Access.Resolve, func(p netip.Prefix) bool { return p.Bits() == 0 })
	switch {
	case slices.Contains(allowed, anyOrigin) && everybody:
		header["Access-Control-Allow-Origin"] = []string{anyOrigin}
	case len(allowed) == 0:
		return false
	default:
		header.Add("Vary", "Origin") // also where it is not allowed, or absent
		if len(origin) != 1 || !slices.Contains(allowed, origin[0]) {
			return false
		}
		header["Access-Control-Allow-Origin"] = origin
	}
	header["Access-Control-Expose-Headers"] = []string{"Cache-Status, Link, Location, " + message.RequestIDField}
	return true
}

// isPreflight reports whether a request asks for permission to send another one.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && len(r.Header["Origin"]) > 0 && len(r.Header["Access-Control-Request-Method"]) > 0
}

// preflight answers a preflight request for a target, and reports whether it may be sent.
func (h *Handler) preflight(x *exchange, target string) bool {
	request, err := message.Parse(target)
	batch := target == message.PathResolve
	if err != nil && !batch || !batch && target != answer.PathOpenAPI && !h.isShared(&request, err) || !h.allowOrigin(x) {
		return false
	}
	x.event.Form = request.Form.String()
	header := x.Header()
	header["Access-Control-Allow-Methods"] = []string{methods(target)}
	header["Access-Control-Allow-Headers"] = []string{"Accept, Accept-Language, Cache-Control, Content-Type"}
	header["Access-Control-Max-Age"] = []string{"86400"}
	h.reply(x, message.Reply{Status: http.StatusNoContent, Vary: "Origin, Access-Control-Request-Method"})
	return true
}
