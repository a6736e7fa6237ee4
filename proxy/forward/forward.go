package proxy

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// ownTarget returns the request-target, without scheme and authority where they
// are those of this server: every server must accept the absolute form (RFC
// 9112 section 3.2.2), and a proxy must know itself.
func ownTarget(r *http.Request) string {
	target := r.RequestURI
	if !strings.HasPrefix(target, "http://") {
		return target
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return target
	}
	own := "http://" + local.String()
	rest, found := strings.CutPrefix(target, own)
	switch {
	case !found:
		return target
	case rest == "":
		return "/"
	case rest[0] == '/':
		return rest
	default:
		return target
	}
}

// newForward returns the forward proxy: the reverse proxy of the standard
// library, which knows hop-by-hop fields, trailers and upgrades, over the
// handlers of schemes.
func (h *Handler) newForward() http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.Header.Add("Via", h.config.Hop.String())
			if traceparent := resolver.Traceparent(p.In.Context()); traceparent != "" {
				p.Out.Header.Set(resolver.TraceparentField, traceparent)
			}
		},
		ModifyResponse: func(response *http.Response) error {
			response.Header.Add("Via", h.config.Hop.String())
			if h.config.Identify {
				response.Header.Del(idField) // or there would be two
			}
			if _, ok := response.Header["Content-Type"]; !ok {
				response.Header["Content-Type"] = nil // net/http would guess one
			}
			return nil
		},
		Transport: scheme.Transport{Handler: h.fetcher},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			h.fail(w, r, err, "", nil)
		},
		ErrorLog: slog.NewLogLogger(h.config.Log.Handler(), slog.LevelDebug),
	}
}

// serveForward passes a request on to the origin server of u.
func (h *Handler) serveForward(w http.ResponseWriter, r *http.Request, u uri.URI) {
	if err := h.mayForward(r); err != nil {
		h.fail(w, r, err, "", nil)
		return
	}
	if !h.config.Slots.Take() {
		h.fail(w, r, errFetches, "", nil)
		return
	}
	defer h.config.Slots.Leave()
	h.forward.ServeHTTP(w, r.WithContext(scheme.WithTarget(r.Context(), u)))
}
