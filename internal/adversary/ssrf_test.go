package adversary

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ssrf are ways to make urnd connect to destinations that its client cannot or must not reach (server-side
// request forgery: OWASP Top Ten 2021, A10). The canary listens on all addresses of this machine.
func ssrf(s *stage) []payload {
	return slices.Concat(s.spelled(), s.named(), s.redirected(), s.schemes(), s.ownListeners())
}

// destination is a place to which urnd must not connect.
type destination struct {
	host string // as spelled in a URI
	// literal is set for an IP address, which is rejected itself; other spellings are names that do not exist.
	literal bool
}

// wantRefusal returns an error unless urnd has refused to connect. A network error means that it has tried.
func (d destination) wantRefusal(got reply, err error) error {
	switch {
	case err != nil:
		return err
	case got.status < 400:
		return fmt.Errorf("it is answered %d: %.100q", got.status, got.body)
	case got.status == 500:
		return errors.New("it is answered 500")
	case d.literal && (got.status == 502 || got.status == 504):
		return fmt.Errorf("urnd tried to connect: %d %.200q", got.status, got.body)
	default:
		return nil
	}
}

// forwardTo requests a URI from the forward proxy.
func (s *stage) forwardTo(ctx context.Context, uri string) (reply, error) {
	return get(ctx, s.service, friend, uri)
}
