package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
)

var errPanic = errors.New("handling the request panicked")

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.refusal(r); err != nil {
		h.config.Log.WarnContext(r.Context(), "a request to the admin interface was refused", "client", r.RemoteAddr, "path", r.URL.Path, "error", err)
		fail(w, r, err)
		return
	}
	defer func() {
		if value := recover(); value != nil {
			h.config.Panicked(value, debug.Stack())
			fail(w, r, errPanic)
		}
	}()
	h.routes.ServeHTTP(w, r)
}

// refusal returns why a client may not use the admin interface, nil where it may.
func (h *Handler) refusal(r *http.Request) error {
	peer := message.AddrOf(r.RemoteAddr)
	if !peer.IsValid() { // over a Unix socket, which file permissions protect
		return nil
	}
	client, err := h.client(r, peer)
	isHealth := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
	switch {
	case err != nil:
		return err
	case !message.Contains(h.config.Clients, client):
		return problem.ErrAdminClient
	case isHealth:
		return nil
	case h.config.Certificate && !verified(r):
		return problem.ErrAdminCertificate
	case !h.config.Own.Has(r.Host): // DNS rebinding: the name of another site resolves to this machine
		return problem.ErrAdminHost
	case len(h.config.Token) > 0:
		return h.checkToken(r, client)
	default:
		return nil
	}
}

// client returns who sent a request. One that has come through a proxy must name its client:
// otherwise whoever may use a proxy on this machine, such as urnd itself, would come from here.
func (h *Handler) client(r *http.Request, peer netip.Addr) (netip.Addr, error) {
	names := len(r.Header["X-Forwarded-For"]) > 0 || len(r.Header["Forwarded"]) > 0
	if !names && len(r.Header["Via"]) == 0 {
		return peer, nil
	}
	client := message.ClientOf(r.RemoteAddr, r.Header, h.config.Proxies)
	if !names || client.Relayed {
		return netip.Addr{}, problem.ErrAdminRelayed
	}
	return client.Addr, nil
}

// verified reports whether the handshake has verified a client certificate. It is checked
// for each request: a connection may be older than the configuration.
func verified(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

// administrators are the addresses that have shown the right token: guesses of others there do not
// lock them out.
type administrators struct {
	mu    sync.Mutex
	addrs map[netip.Addr]bool
}

// maxAdministrators bounds the addresses that are remembered.
const maxAdministrators = 1000

func (a *administrators) has(addr netip.Addr) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.addrs[addr]
}

func (a *administrators) add(addr netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.addrs == nil || len(a.addrs) >= maxAdministrators {
		a.addrs = make(map[netip.Addr]bool)
	}
	a.addrs[addr] = true
}

// checkToken compares hashes in constant time, against timing attacks.
func (h *Handler) checkToken(r *http.Request, client netip.Addr) error {
	if h.config.Guesses.Stopped(client) && !h.known.has(client) {
		return problem.ErrGuesses
	}
	shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	want, got := sha256.Sum256(h.config.Token), sha256.Sum256([]byte(shown))
	if !ok || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		if ok { // who sends none does not guess
			h.config.Guesses.Wrong(client)
		}
		return problem.ErrAdminToken
	}
	h.known.add(client)
	return nil
}
