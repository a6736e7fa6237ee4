package proxy

import (
	"net/http"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/uri"
)

// methodPurge removes the stored responses for a URI, as with other caches: it is of no
// specification.
const methodPurge = "PURGE"

// purge answers PURGE: all variants of a URI must be validated before they are used again.
func (h *Handler) purge(x *exchange, key uri.URI) error {
	if !h.config.Access.mayPurge(x.client) {
		return problem.ErrPurgeClient
	}
	purged := h.forward.Purge(key)
	status := http.StatusOK
	if purged == 0 {
		status = http.StatusNotFound
	}
	h.reply(x, message.JSON(status, map[string]int{"purged": purged}))
	return nil
}
