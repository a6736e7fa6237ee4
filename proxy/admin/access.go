package admin

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

var errPanic = errors.New("handling the request panicked")

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cross-Origin-Resource-Policy"] = []string{"same-origin"} // the Fetch standard section 3.7
	defer func() {
		if value := recover(); value != nil {
			h.config.Panicked(value, debug.Stack())
			h.fail(w, r, errPanic)
		}
	}()
	if o, id := h.pageOf(r.URL.Path); o != nil {
		h.servePage(w, r, o, id)
		return
	}
	actor, err := h.admit(r)
	switch {
	case err != nil && h.mayLogIn(r, err):
		h.write(w, r, toLogin(r))
	case err != nil:
		h.config.Log.WarnContext(r.Context(), "a request to the admin interface was refused", "client", r.RemoteAddr, "path", r.URL.Path, "error", err)
		h.fail(w, r, err)
	case !h.isRegistry(r.URL.Path):
		h.serve(w, r)
	case h.config.Registry == nil:
		h.fail(w, r, problem.ErrNoRegistry)
	default:
		w.Header()[httpmessage.RequestIDField] = []string{actor.Request}
		h.serveRegistry(w, r, actor)
	}
}

// admit returns who sends a request to the registry, or an error where the request is refused.
func (h *Handler) admit(r *http.Request) (registry.Actor, error) {
	if h.config.Registry == nil || !h.isRegistry(r.URL.Path) {
		return registry.Actor{}, h.refusal(r)
	}
	return h.actorOf(r)
}

// refusal returns why a client may not use the admin interface, nil where it may.
func (h *Handler) refusal(r *http.Request) error {
	client, err := h.reach(r)
	isOpen := h.isOpen(r.URL.Path)
	if err != nil || isOpen || !client.IsValid() || len(h.config.Token) == 0 {
		return err
	}
	return h.checkToken(r, client)
}

// reach returns the address of a client that may reach the admin interface, with a token where one is
// required; the zero value is that of a Unix socket, which file permissions protect.
func (h *Handler) reach(r *http.Request) (netip.Addr, error) {
	return h.reachAs(r, h.isOpen(r.URL.Path))
}

// reachAs is reach for what is open to whoever may connect, or not.
func (h *Handler) reachAs(r *http.Request, isOpen bool) (netip.Addr, error) {
	peer := gate.AddrOf(r.RemoteAddr)
	if !peer.IsValid() {
		return peer, nil
	}
	client, err := h.client(r, peer)
	switch {
	case err != nil:
		return client, err
	case !gate.Contains(h.config.Clients, client):
		return client, problem.ErrAdminClient
	case gate.IsCrossSite(httpmessage.LinesOf(r.Header), r.Host): // a page in the browser of somebody who may must not use his access
		return client, problem.ErrAdminOrigin
	case isOpen:
		return client, nil
	case h.config.Certificate && !verified(r):
		return client, problem.ErrAdminCertificate
	case !h.config.Own.Has(r.Host): // DNS rebinding: the name of another site resolves to this machine
		return client, problem.ErrAdminHost
	default:
		return client, nil
	}
}

// client returns who sent a request. One that has come through a proxy must name its client:
// otherwise whoever may use a proxy on this machine, such as urnd itself, would come from here.
func (h *Handler) client(r *http.Request, peer netip.Addr) (netip.Addr, error) {
	names := len(r.Header["X-Forwarded-For"]) > 0 || len(r.Header["Forwarded"]) > 0
	if !names && len(r.Header["Via"]) == 0 {
		return peer, nil
	}
	client := gate.ClientOf(r.RemoteAddr, httpmessage.LinesOf(r.Header), h.config.Proxies)
	if !names || client.Relayed {
		return netip.Addr{}, problem.ErrAdminRelayed
	}
	return client.Addr, nil
}

// verified reports whether the handshake has verified a client certificate. It is checked
// for each request: a connection may be older than the configuration.
func verified(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

func (h *Handler) checkToken(r *http.Request, client netip.Addr) error {
	switch actor, ok, err := h.actorOfSession(r, client); {
	case err != nil:
		return err
	case ok && actor.Token != "":
		return fmt.Errorf("%w: this is for administrators, and not for %s", registry.ErrDenied, actor.Name)
	case ok:
		return nil
	}
	if shown, ok := bearerOf(r); !ok || !h.isToken(shown) {
		return problem.ErrAdminToken
	}
	return nil
}
