package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
)

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.refusal(r); err != nil {
		h.config.Log.WarnContext(r.Context(), "a request to the admin interface was refused", "client", r.RemoteAddr, "path", r.URL.Path, "error", err)
		fail(w, r, err)
		return
	}
	h.routes.ServeHTTP(w, r)
}

// refusal returns why a client may not use the admin interface, nil where it may.
func (h *Handler) refusal(r *http.Request) error {
	peer := message.AddrOf(r.RemoteAddr)
	switch {
	case !peer.IsValid(): // over a Unix socket, which file permissions protect
		return nil
	case !message.Contains(h.config.Clients, peer):
		return problem.ErrAdminClient
	case r.URL.Path == "/healthz", r.URL.Path == "/readyz":
		return nil
	case h.config.Certificate && !verified(r):
		return problem.ErrAdminCertificate
	case len(h.config.Token) > 0:
		return h.checkToken(r)
	case h.config.Certificate:
		return nil
	case message.ClientOf(r.RemoteAddr, r.Header, nil).Relayed: // any client may come from loopback then
		return problem.ErrAdminClient
	case !isOwnHost(r.Host): // DNS rebinding: the name of another site resolves to this machine
		return problem.ErrAdminHost
	default:
		return nil
	}
}

// verified reports whether the handshake has verified a client certificate. It is checked
// for each request: a connection may be older than the configuration.
func verified(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

// checkToken compares hashes in constant time, against timing attacks.
func (h *Handler) checkToken(r *http.Request) error {
	shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	want, got := sha256.Sum256(h.config.Token), sha256.Sum256([]byte(shown))
	if !ok || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return problem.ErrAdminToken
	}
	return nil
}

// isOwnHost reports whether a Host field is an IP address or localhost.
func isOwnHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}
