package proxy

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/urnd/urnd/proxy/message"
)

// idField is the field of the request identifier, between proxies and in responses.
const idField = "X-Request-Id"

// identify sets the request identifier in the response, unless it is set: that of a trusted proxy in front of
// urnd, or a new one. By it the failure that a user reports is found in the log.
func (h *Handler) identify(x *exchange) {
	if x.event.ID != "" {
		return
	}
	id := x.request.Header.Get(idField)
	if !isID(id) || !message.Contains(h.config.Access.Trusted, x.client.Peer) {
		id = fmt.Sprintf("%016x", rand.Uint64()) //nolint:gosec // it need not be secret
	}
	x.Header()[idField] = []string{id}
	x.event.ID = id
}

// isID reports whether a value may be used as a request identifier.
func isID(id string) bool {
	const octets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:"
	return id != "" && len(id) <= 64 && strings.Trim(id, octets) == ""
}
