package proxy

import (
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// route is every route of the service, on one screen. It goes by the raw
// request-target: http.ServeMux would clean "//" and "..", and redirect "urn:".
func (h *Handler) route(w http.ResponseWriter, r *http.Request, from client) {
	target := ownTarget(r)
	if via := r.Header["Via"]; len(via) > 0 {
		joined := strings.Join(via, ", ")
		if h.config.Hop.Loops(joined) {
			h.fail(w, r, errLoop, "", nil)
			return
		}
		r = r.WithContext(resolver.WithVia(r.Context(), joined))
	}
	switch {
	case h.rates != nil && !h.rates.allows(from.addr):
		h.fail(w, r, errRate, "", nil)
	case r.Method == http.MethodConnect:
		h.fail(w, r, errConnect, "", nil)
	case len(target) > h.config.MaxTarget:
		h.fail(w, r, errTargetTooLong, "", nil)
	case target == apiOpenAPI && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		sendDocument(w, r, openAPIService)
	case r.Method == http.MethodPost && target == apiResolve && h.config.Access.mayResolve(from):
		h.serveBatch(w, r)
	default:
		h.serveTarget(w, r, target, from)
	}
}

func (h *Handler) serveTarget(w http.ResponseWriter, r *http.Request, target string, from client) {
	req, err := parseTarget(target)
	event := eventOf(w)
	event.Form, event.Service = req.form.String(), req.query.Service
	switch {
	case err == nil && req.form == formForward:
		h.serveForward(w, r, req.query.URI)
	case !h.config.Access.mayResolve(from):
		h.fail(w, r, errResolve, "", nil)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.fail(w, r, errMethod, "", nil)
	case err != nil:
		h.fail(w, r, err, "", nil)
	case req.form == formHome:
		serveHome(w, r)
	case !req.query.URI.IsURN():
		if err := h.mayProxy(r); err != nil {
			h.fail(w, r, err, "", nil)
			return
		}
		fallthrough
	default:
		h.serveQuery(w, r, req)
	}
}

func (h *Handler) serveQuery(w http.ResponseWriter, r *http.Request, req request) {
	switch {
	case req.form == formAPI, wantsTrace(r) && locates(req.query.Service):
		h.serveAPI(w, r, req.query)
	default:
		h.serveService(w, r, req)
	}
}

func serveHome(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	write(w, r, http.StatusOK, homePage())
}
