package proxy

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/urnd/urnd/proxy/message"
)

// idField is the field that names a request, between proxies and in responses.
const idField = "X-Request-Id"

// identify names a request in its response: as a trusted proxy in front names it, or
// anew. Users who report a failure give it, and it is found in the log.
func (h *Handler) identify(x *exchange) {
	id := x.request.Header.Get(idField)
	if !isID(id) || !message.Contains(h.config.Access.Trusted, message.AddrOf(x.request.RemoteAddr)) {
		id = fmt.Sprintf("%016x", rand.Uint64()) //nolint:gosec // it tells apart, and guards nothing
	}
	x.Header()[idField] = []string{id}
	x.event.ID = id
}

// isID reports whether a field may be taken for the name of a request.
func isID(id string) bool {
	const octets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:"
	return id != "" && len(id) <= 64 && strings.Trim(id, octets) == ""
}
