package resolver

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
)

// pseudonym begins the names of all urnds in Via.
const pseudonym = "urnd"

// Hop is how one urnd names itself in Via (RFC 9110 section 7.6.3): a pseudonym that no
// other has. The zero value is a name that all share.
type Hop struct {
	id string
}

// NewHop returns a Hop that no other is like.
func NewHop() Hop { return Hop{"-" + strconv.FormatUint(rand.Uint64(), 36)} } //nolint:gosec // it tells apart, and guards nothing

// String returns the entry of Via.
func (h Hop) String() string { return "1.1 " + pseudonym + h.id }

// maxPasses is how often a request may have come through proxies of this kind: they may
// be chained, but a loop must end.
const maxPasses = 4

// Loops reports whether a request with such a Via field has come this way before.
func (h Hop) Loops(via string) bool {
	if h.id != "" && strings.Contains(via+",", " "+pseudonym+h.id+",") {
		return true
	}
	return strings.Count(via, " "+pseudonym) >= maxPasses
}

type viaKey struct{}

// WithVia returns a context for a request that came through proxies, which its Via
// field names: what is asked for on its behalf says so, and a loop ends.
func WithVia(ctx context.Context, via string) context.Context {
	return context.WithValue(ctx, viaKey{}, via)
}

// Append returns the Via field of a request on behalf of ctx.
func (h Hop) Append(ctx context.Context) string {
	if via, _ := ctx.Value(viaKey{}).(string); via != "" {
		return via + ", " + h.String()
	}
	return h.String()
}
