package resolver_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// known is a History with versions of one name.
type known string

func (k known) Versions(_ context.Context, q resolver.Query) (resolver.Versions, error) {
	if q.URI.String() != string(k) {
		return resolver.Versions{}, &resolver.Negative{Kind: resolver.ErrUnsupported, TTL: resolver.Forever}
	}
	return resolver.Versions{Name: q.URI, Times: []time.Time{time.Unix(1, 0)}}, nil
}

func TestHistory(t *testing.T) {
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: set, Accept: uri.CurrentURN}.WithOwnedPrefixes([]string{"urn:", "ark:/12345/"})
	errBusy := errors.New("busy")
	clients := quota.NewClientLimits(1, 1, errBusy)
	client := netip.MustParseAddr("192.0.2.1")
	for text, want := range map[string]struct {
		known string
		err   error
	}{
		"URN:Example:a?+r#f":                 {known: "urn:example:a"},
		"https://any.example/ark:12345/x-1/": {known: "ark:/12345/x1"},
		"urn:example:b":                      {"urn:example:a", resolver.ErrNotFound},
		"https://any.example/":               {"https://any.example/", resolver.ErrNotFound},
		"ark:/99999/x":                       {"ark:/99999/x", resolver.ErrNotFound},
	} {
		q, err := resolver.ParseQuery(text, resolver.I2L)
		if err != nil {
			t.Fatal(err)
		}
		q.Client = client
		past := resolver.CanonicalHistory{Names: names, Clients: clients, Next: known(want.known)}
		got, err := past.Versions(t.Context(), q)
		if !errors.Is(err, want.err) || err == nil && (got.Name.String() != want.known || len(got.Times) != 1) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	permit, err := clients.Acquire(client)
	if err != nil {
		t.Fatal(err)
	}
	defer permit.Release()
	q, _ := resolver.ParseQuery("urn:example:a", resolver.I2L)
	q.Client = client
	if _, err := (resolver.CanonicalHistory{
		Names: names, Clients: clients,
		Next: known("urn:example:a"),
	}).Versions(t.Context(), q); !errors.Is(err, errBusy) {
		t.Errorf("client at its limit: %v", err)
	}
	q, _ = resolver.ParseQuery("urn:example:a?x", resolver.I2L)
	if _, err := (resolver.CanonicalHistory{Names: names, Next: known("")}).Versions(t.Context(), q); !errors.As(err,
		new(*uri.ParseError)) {
		t.Errorf("not a name: %v", err)
	}
}
