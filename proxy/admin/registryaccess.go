package admin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// actorOf returns who sends a request to the registry. Who shows a token of the registry has its
// role, also where no token is required; otherwise an administrator does all.
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

// administrator is who needs no token of the registry.
func administrator() registry.Actor {
	return registry.Actor{Name: registry.AdministratorName, Role: registry.Admin}
}

// authenticate returns the actor of the token that a request shows, of which there are two kinds, or of who has logged in.
func (h *Handler) authenticate(r *http.Request, client netip.Addr) (registry.Actor, error) {
	if actor, ok, err := h.actorOfSession(r, client); ok || err != nil {
		return actor, err
	}
	if r.Header.Get("Authorization") == "" && session.HasBegun(session.CookieOf(r, h.isSecure(r))) {
		return registry.Actor{}, problem.ErrTokenRequired // it has ended, and was perhaps for less than one may here without a token
	}
	shown, ok := bearerOf(r)
	ours := ok && strings.HasPrefix(shown, token.Start)
	required := client.IsValid() && len(h.config.Token) > 0
	if !required && !ours {
		return h.withoutToken(r)
	}
	if !ok {
		shown = ""
	}
	return h.identify(r.Context(), shown, r.Method != http.MethodGet && r.Method != http.MethodHead)
}

// identify returns the actor of a token that was shown, "" for none. Whoever sends wrong ones locks out nobody: a token has so many
// possible values that finding one takes longer than anybody tries.
func (h *Handler) identify(ctx context.Context, shown string, isChange bool) (registry.Actor, error) {
	switch {
	case shown == "":
		return registry.Actor{}, problem.ErrTokenRequired
	case len(h.config.Token) > 0 && h.isToken(shown):
		return administrator(), nil
	case !strings.HasPrefix(shown, token.Start) || h.config.Registry == nil:
		return registry.Actor{}, problem.ErrTokenRequired
	default:
		return h.config.Registry.Authenticate(ctx, shown, isChange)
	}
}

// withoutToken returns the administrator, who needs no token. Where another one is shown it is refused: a
// program whose token is broken must notice.
func (h *Handler) withoutToken(r *http.Request) (registry.Actor, error) {
	shown, ok := bearerOf(r)
	isOurs := ok && len(h.config.Token) > 0 && h.isToken(shown)
	if r.Header.Get("Authorization") != "" && !isOurs {
		return registry.Actor{}, problem.ErrTokenRequired
	}
	return administrator(), nil
}

// bearerOf returns the bearer token of a request (RFC 6750 section 2.1). The scheme is in any case (RFC 9110 section 11.1).
func bearerOf(r *http.Request) (string, bool) {
	scheme, shown, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimLeft(shown, " "), ok && strings.EqualFold(scheme, "Bearer")
}

// isTokenOf reports whether a proof is of the token of administrators that is valid now.
func (h *Handler) isTokenOf(p token.Proof) bool {
	want := sha256.Sum256(h.config.Token)
	return len(h.config.Token) > 0 && subtle.ConstantTimeCompare(want[:], p.Hash[:]) == 1
}

// isToken compares hashes in constant time, against timing attacks.
func (h *Handler) isToken(shown string) bool {
	want, got := sha256.Sum256(h.config.Token), sha256.Sum256([]byte(shown))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
