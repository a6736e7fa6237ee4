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
	s := h.gateway.origins[strings.TrimSuffix(host, ".")]
	if s == nil {
		return h.forward.Refresh(ctx, key, uri.URI{}, nil) //nolint:wrapcheck // likewise
	}
	return h.forward.Refresh(ctx, key, h.gateway.server(s), s.set) //nolint:wrapcheck // forward has done so
}
