package admin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

var errPanic = errors.New("request handler panicked")

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cross-Origin-Resource-Policy"] = []string{"same-origin"} // the Fetch standard section 3.7
	defer func() {
		if value := recover(); value != nil {
			h.config.Panicked(value, debug.Stack())
			h.Fail(w, r, errPanic)
		}
	}()
	if p, id := h.pageOf(r.URL.Path); p != nil {
		h.servePage(w, r, p, id)
		return
	}
	actor, err := h.admit(r)
	switch {
	case err != nil:
		h.config.Log.WarnContext(r.Context(), "admin request refused", "client", r.RemoteAddr, "path", r.URL.Path,
			"error", err)
		h.Fail(w, r, err)
	case h.config.Registry == nil && h.api.OfRegistry(r.URL.Path):
		h.Fail(w, r, problem.ErrNoRegistry)
	default:
		h.api.Serve(w, r, actor) //nolint:contextcheck // the request carries the context
	}
}

// logFailure logs an error of a request to the registry that is not the client's.
func (h *Handler) logFailure(r *http.Request, actor registry.Actor, err error) {
	if problem.Status(err) >= http.StatusInternalServerError {
		h.config.Log.ErrorContext(r.Context(), "registry request failed",
			"request", actor.Request, "client", actor.Client, "method", r.Method, "path", r.URL.Path, "error", err)
	}
}

// admit returns the actor of a request, or an error where the request is denied. Requests for operations of
// the registry are authenticated as an actor; all others as an administrator.
func (h *Handler) admit(r *http.Request) (registry.Actor, error) {
	if h.config.Registry == nil || !h.api.OfRegistry(r.URL.Path) {
		return registry.Actor{}, h.denial(r)
	}
	return h.actorOf(r)
}

// denial returns the error that denies a client the admin interface, nil where it is authorized.
func (h *Handler) denial(r *http.Request) error {
	client, err := h.reach(r)
	open := h.api.Open(r.URL.Path)
	if err != nil || open || !client.IsValid() || len(h.config.Token) == 0 {
		return err
	}
	return h.checkToken(r, client)
}

// reach returns the address of a client that is authorized to connect to the admin interface; whether it
// needs a token is checked elsewhere. The zero value is that of a Unix socket, which file permissions
// protect.
func (h *Handler) reach(r *http.Request) (netip.Addr, error) {
	return h.reachAs(r, h.api.Open(r.URL.Path))
}

// reachAs is reach with isOpen, which is true for operations that need neither a client certificate nor an
// own host name.
func (h *Handler) reachAs(r *http.Request, open bool) (netip.Addr, error) {
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
	// CSRF: a cross-site page in the browser of an authorized user must not act with the credentials of that
	// user.
	case gate.CrossSite(httpmessage.NewHeader(r.Header), r.Host):
		return client, problem.ErrAdminOrigin
	case open:
		return client, nil
	case h.config.RequireCertificate && !verified(r):
		return client, problem.ErrAdminCertificate
	// DNS rebinding: the host name of another site resolves to this machine.
	case !h.config.OwnHosts.Has(r.Host):
		return client, problem.ErrAdminHost
	default:
		return client, nil
	}
}

// client returns the address of the client of a request. A request that has come through a proxy must name
// its client in Forwarded or X-Forwarded-For: otherwise every user of a proxy on this machine, such as urnd
// itself, would appear to connect from loopback.
func (h *Handler) client(r *http.Request, peer netip.Addr) (netip.Addr, error) {
	names := len(r.Header["X-Forwarded-For"]) > 0 || len(r.Header["Forwarded"]) > 0
	if !names && len(r.Header["Via"]) == 0 {
		return peer, nil
	}
	client := gate.NewClient(r.RemoteAddr, httpmessage.NewHeader(r.Header), h.config.Proxies)
	if !names || client.Relayed {
		return netip.Addr{}, problem.ErrAdminRelayed
	}
	return client.Addr, nil
}

// verified reports whether the TLS handshake has verified a client certificate. It is checked for each
// request, since a connection may be older than the configuration.
func verified(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

func (h *Handler) checkToken(r *http.Request, client netip.Addr) error {
	switch actor, ok, err := h.actorOfSession(r, client); {
	case err != nil:
		return err
	case ok && actor.Token != "":
		return fmt.Errorf("%w: only administrators are authorized, not %s", registry.ErrDenied, actor.Name)
	case ok:
		return nil
	}
	if shown, ok := bearerOf(r); !ok || !h.isToken(shown) {
		return problem.ErrAdminToken
	}
	return nil
}

// actorOf returns the actor of a request to the registry. A token of the registry gives its own role, even
// where no token is required; otherwise the actor is the administrator.
func (h *Handler) actorOf(r *http.Request) (registry.Actor, error) {
	client, err := h.reach(r)
	if err != nil {
		return registry.Actor{}, err
	}
	actor, err := h.authenticate(r, client)
	if err != nil {
		return registry.Actor{}, err
	}
	actor.Client = "a Unix socket"
	if client.IsValid() {
		actor.Client = client.String()
	}
	peer := gate.AddrOf(r.RemoteAddr)
	trusted := peer.IsValid() && gate.Contains(h.config.Proxies, peer)
	actor.Request = string(httpmessage.AppendRequestID(nil, r.Header.Get(httpmessage.RequestIDField), trusted))
	return actor, nil
}

// administrator returns the actor that needs no token of the registry.
func administrator() registry.Actor {
	return registry.Actor{Name: registry.AdministratorName, Role: registry.Admin}
}

// authenticate returns the actor of the bearer token of a request (a token of administrators or of the
// registry), or of its session.
func (h *Handler) authenticate(r *http.Request, client netip.Addr) (registry.Actor, error) {
	if actor, ok, err := h.actorOfSession(r, client); ok || err != nil {
		return actor, err
	}
	if r.Header.Get("Authorization") == "" && session.IsSession(session.CookieOf(r, h.isSecure(r))) {
		// The session has ended. Its role may have been lower than that of a request without a token.
		return registry.Actor{}, problem.ErrTokenRequired
	}
	shown, ok := bearerOf(r)
	ours := ok && strings.HasPrefix(shown, token.SecretPrefix)
	required := client.IsValid() && len(h.config.Token) > 0
	if !required && !ours {
		return h.withoutToken(r)
	}
	if !ok {
		shown = ""
	}
	return h.identify(r.Context(), shown, r.Method != http.MethodGet && r.Method != http.MethodHead)
}

// identify returns the actor of a token, "" for a request without one. Wrong tokens lock nobody out: a token
// has too many possible values to be guessed.
func (h *Handler) identify(ctx context.Context, shown string, isChange bool) (registry.Actor, error) {
	switch {
	case shown == "":
		return registry.Actor{}, problem.ErrTokenRequired
	case len(h.config.Token) > 0 && h.isToken(shown):
		return administrator(), nil
	case !strings.HasPrefix(shown, token.SecretPrefix) || h.config.Registry == nil:
		return registry.Actor{}, problem.ErrTokenRequired
	default:
		return h.config.Registry.Authenticate(ctx, shown, isChange)
	}
}

// withoutToken returns the administrator, who needs no token. A request that carries a wrong token is denied:
// a program with a broken token must notice.
func (h *Handler) withoutToken(r *http.Request) (registry.Actor, error) {
	shown, ok := bearerOf(r)
	ours := ok && len(h.config.Token) > 0 && h.isToken(shown)
	if r.Header.Get("Authorization") != "" && !ours {
		return registry.Actor{}, problem.ErrTokenRequired
	}
	return administrator(), nil
}

// bearerOf returns the bearer token of a request (RFC 6750 section 2.1). The scheme is case-insensitive (RFC
// 9110 section 11.1).
func bearerOf(r *http.Request) (string, bool) {
	scheme, shown, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimLeft(shown, " "), ok && strings.EqualFold(scheme, "Bearer")
}

// isTokenOf reports whether a proof belongs to the current token of administrators.
func (h *Handler) isTokenOf(p token.Proof) bool {
	want := sha256.Sum256(h.config.Token)
	return len(h.config.Token) > 0 && subtle.ConstantTimeCompare(want[:], p.Hash[:]) == 1
}

// isToken reports whether a token is that of administrators. It compares hashes in constant time, against
// timing attacks.
func (h *Handler) isToken(shown string) bool {
	want, got := sha256.Sum256(h.config.Token), sha256.Sum256([]byte(shown))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
