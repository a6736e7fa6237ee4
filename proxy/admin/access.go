package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/resolver"
)

var (
	errAdmin            = errors.New("this client may not administrate (access.admin_clients)")
	errAdminCertificate = errors.New("a certificate of administrators is asked for (tls.client_ca)")
	errAdminHost        = errors.New("without a token urnd is administrated by its address, or as localhost, alone")
	errAdminPage        = errors.New("a page of another site may not administrate")
	errAdminPath        = fmt.Errorf("%w: administrators have nothing here", resolver.ErrNotFound)
	errAdminToken       = errors.New("the token of administrators is asked for (access.admin_token)")
)

// ServeHTTP implements http.Handler.
func (a *admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := a.refuses(r); err != nil {
		a.config.Log.WarnContext(r.Context(), "an administrator was refused", "client", r.RemoteAddr, "path", r.URL.Path, "error", err)
		writeProblem(w, r, err, "", nil)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// refuses says why a client may not administrate.
func (a *admin) refuses(r *http.Request) error {
	peer := addrOf(r.RemoteAddr)
	switch {
	case !peer.IsValid(): // by a socket in the file system, or a probe of our own
		return nil
	case !contains(a.config.Clients, peer):
		return errAdmin
	case r.URL.Path == "/healthz", r.URL.Path == "/readyz":
		return nil
	case a.config.Certificate && !verified(r):
		return errAdminCertificate
	case len(a.config.Token) > 0:
		return a.checkToken(r)
	case a.config.Certificate:
		return nil
	case (Access{}).clientOf(r).relayed: // the whole world may come from loopback then
		return errAdmin
	case !isOwnHost(r.Host): // a page whose name was made to lead here (DNS rebinding)
		return errAdminHost
	default:
		return nil
	}
}

// verified reports whether the client has shown a certificate of the authorities. What
// the configuration says is not enough: a connection may be older than it.
func verified(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

// checkToken compares sums, which says nothing of how much was right.
func (a *admin) checkToken(r *http.Request) error {
	shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	want, got := sha256.Sum256(a.config.Token), sha256.Sum256([]byte(shown))
	if !ok || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return errAdminToken
	}
	return nil
}

// isOwnHost reports whether a Host field is an address, or of this machine.
func isOwnHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}
