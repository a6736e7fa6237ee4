package proxy

import (
	"net/http"
	"slices"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
)

// Cross-origin requests: the Fetch standard section 3.2. Pages of other sites may read what is
// public here: answers, lists, descriptions and the OpenAPI document.

// anyOrigin allows all origins.
const anyOrigin = "*"

// isShared reports whether pages of other sites may read the reply to a request.
func isShared(request *message.Request) bool {
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
// origin.
func (h *Handler) allowOrigin(x *exchange) bool {
	origin := x.request.Header["Origin"]
	if len(origin) != 1 {
		return false
	}
	header := x.Header()
	switch allowed := h.config.Access.Origins; {
	case slices.Contains(allowed, anyOrigin):
		header["Access-Control-Allow-Origin"] = []string{anyOrigin}
	case slices.Contains(allowed, origin[0]):
		header["Access-Control-Allow-Origin"] = origin
		header.Add("Vary", "Origin")
	default:
		return false
	}
	header["Access-Control-Expose-Headers"] = []string{"Cache-Status, Link, Location, " + idField}
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
	if err != nil && !batch || !batch && target != answer.PathOpenAPI && !isShared(&request) || !h.allowOrigin(x) {
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
