package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// resolved returns where a name leads, or leads to, as one text.
func resolved(t *testing.T, s registry.Store, name string, service resolver.Service, at time.Time) (string, error) {
	t.Helper()
	r := registry.NewResolver(registry.ResolverConfig{Store: s, TTL: time.Minute, Now: time.Now})
	q, err := resolver.ParseQuery(name, service)
	if err != nil {
		t.Fatal(err)
	}
	q.At = at
	answer, err := r.Resolve(t.Context(), q)
	var uris []string
	for _, l := range answer.Locations {
		uris = append(uris, l.URI)
	}
	return strings.Join(uris, " "), err
}

// awayForReading is a store that answers look-ups alone.
type awayForReading struct{ registry.Store }

func (awayForReading) Read(context.Context, func(registry.Tx) error) error {
	return fmt.Errorf("%w: at db.internal.example", registry.ErrNoStore)
}

// What a store says of itself is not for those who ask for names.
func TestStoreIsNotShown(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Name("urn:example:a"), leadsTo("https://a.example/"))
	for _, service := range []resolver.Service{resolver.I2N, resolver.I2Ns} {
		_, err := resolved(t, awayForReading{f.Store()}, "urn:example:a", service, time.Time{})
		if !errors.Is(err, registry.ErrNoStore) || strings.Contains(err.Error(), "db.internal") {
			t.Errorf("%s: %v", service, err)
		}
	}
}
