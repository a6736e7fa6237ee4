package proxy

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// idField is the field that names a request, between proxies and in responses.
const idField = "X-Request-Id"

// identify names a request in its response: as a trusted proxy in front names it, or
// anew. Who reports a failure can be found in the log by it.
func (h *Handler) identify(w http.ResponseWriter, r *http.Request) string {
	id := r.Header.Get(idField)
	if !isID(id) || !contains(h.config.Access.Trusted, addrOf(r.RemoteAddr)) {
		id = fmt.Sprintf("%016x", rand.Uint64()) //nolint:gosec // it tells apart, and guards nothing
	}
	w.Header()[idField] = []string{id}
	return id
}

// isID bounds what is taken for the name of a request.
func isID(id string) bool {
	const octets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:"
	return id != "" && len(id) <= 64 && strings.Trim(id, octets) == ""
}
