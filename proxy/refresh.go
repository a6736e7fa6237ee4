package proxy

import (
	"context"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Refresh fetches all variants that are stored for a URI in canonical form once more, and returns how
// many there were. The rules of the site, which are for clients, do not apply. Errors are those of the
// origin.
func (h *Handler) Refresh(ctx context.Context, key uri.URI) (int, error) {
	host, _ := key.Host()
	var server uri.URI
	if s := h.gateway.origins[strings.TrimSuffix(host, ".")]; s != nil {
		server = h.gateway.server(s)
	}
	return h.forward.Refresh(ctx, key, server) //nolint:wrapcheck // forward has done so
}
