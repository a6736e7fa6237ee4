package forward

import (
	"context"
	"net/netip"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// fetchFunc is a scheme.Handler.
type fetchFunc func(context.Context, scheme.Request) (*scheme.Resource, error)

func (f fetchFunc) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	return f(ctx, r)
}

// The slot of a fetch is released if it fails and if its handler panics.
func TestFetchReleasesSlot(t *testing.T) {
	for name, fetch := range map[string]fetchFunc{
		"error": func(context.Context, scheme.Request) (*scheme.Resource, error) {
			return nil, resolver.ErrUnreachable
		},
		"panic": func(context.Context, scheme.Request) (*scheme.Resource, error) { panic("a bug of the handler") },
	} {
		fetches := make(quota.Semaphore, 1)
		p := New(Config{Fetch: fetch, Via: httpmessage.NewViaName(), Fetches: quota.Limit{Semaphore: fetches}})
		locations := []resolver.Location{{URI: "http://a.example/", From: &resolver.Source{}}}
		func() {
			defer func() {
				if panicked := recover() != nil; panicked != (name == "panic") {
					t.Errorf("%s: panicked: %t", name, panicked)
				}
			}()
			if _, err := p.Resource(t.Context(), Retrieval{
				Method: "GET", Locations: locations,
				Allow: func(uri.URI, bool) (func(netip.AddrPort) error, error) { return nil, nil },
			}); err == nil {
				t.Errorf("%s: a resource", name)
			}
		}()
		if !fetches.TryAcquire() {
			t.Errorf("%s: the slot is not released", name)
		}
	}
}
