package resolver

import "context"

// Pseudonym names urnd in Via (RFC 9110 section 7.6.3).
const Pseudonym = "urnd"

type viaKey struct{}

// WithVia returns a context for a request that came through proxies, which its Via
// field names: what is asked for on its behalf says so, and a loop ends.
func WithVia(ctx context.Context, via string) context.Context {
	return context.WithValue(ctx, viaKey{}, via)
}

// AppendVia returns the Via field of a request on behalf of ctx.
func AppendVia(ctx context.Context) string {
	own := "1.1 " + Pseudonym
	if via, _ := ctx.Value(viaKey{}).(string); via != "" {
		return via + ", " + own
	}
	return own
}
