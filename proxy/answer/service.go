package proxy

import (
	"net/http"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/resolver"
)

// serveService answers what a client asks about an identifier: the services of
// RFC 2483 section 4.
func (h *Handler) serveService(w http.ResponseWriter, r *http.Request, req request) {
	switch req.query.Service {
	case resolver.I2Ls:
		h.serveLocations(w, r, req.query)
	case resolver.I2R:
		h.serveResource(w, r, req.query)
	case resolver.I2Rs:
		h.serveResources(w, r, req.query)
	case resolver.I2C, resolver.I2Cs:
		h.serveDescription(w, r, req.query)
	case resolver.I2N:
		h.serveNames(w, r, req.query, 1)
	case resolver.I2Ns:
		h.serveNames(w, r, req.query, maxNames)
	case resolver.IisI:
		h.serveSame(w, r, req)
	default:
		h.serveAnswer(w, r, req)
	}
}

// locates reports whether a service is answered with locations.
func locates(s resolver.Service) bool { return s == resolver.I2L || s == resolver.I2Ls }

// maxNames bounds a list of names; no namespace comes near.
const maxNames = 100

// negotiate returns the first of types that the client accepts best, and the first
// of all where it accepts none: a client that asked for a service has a use for it.
func negotiate(w http.ResponseWriter, r *http.Request, types []contenttype.MediaType) contenttype.MediaType {
	w.Header().Add("Vary", "Accept")
	chosen, _, err := contenttype.GetAcceptableMediaType(r, types)
	if err != nil {
		return types[0]
	}
	return chosen
}

// respond sends a document that may be kept as long as the answer that it is of.
func respond(w http.ResponseWriter, r *http.Request, contentType string, answer resolver.Answer, body []byte) {
	eventOf(w).Cache = answer.Cache
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
	if answer.Cache != resolver.Uncached {
		header.Set("Cache-Status", string(appendCacheStatus(nil, answer.Cache, answer.TTL)))
	}
	header.Set("Cache-Control", string(appendCacheControl(nil, answer.TTL)))
	write(w, r, http.StatusOK, body)
}
