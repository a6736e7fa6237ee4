package resolver_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// An unregistered name resolves to the requested URL, unless the client may only be redirected to names, or the
// site claims the name.
func TestOrLocation(t *testing.T) {
	names := resolver.Names{
		Set: builtin(t), Accept: uri.CurrentURN,
		RegisteredPrefixes: new(resolver.PrefixSet),
	}.WithOwnedPrefixes([]string{
		"urn:", "https://own.example/",
		"ark:/12345/",
	})
	names.RegisteredPrefixes.Add("https://known.example/a")
	names.RegisteredPrefixes.Add("ark:/99999/a")
	next := resolver.Func(func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: q.URI.String()}
	})
	locations := resolver.Func(func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{Locations: []resolver.Location{{URI: q.URI.String()}}}, nil
	})
	r := resolver.NewCanonical(names, resolver.LocationFallback{Names: names, Next: next, Locations: locations})
	for text, want := range map[string]string{
		"https://known.example/x": "https://known.example/x", "http://known.example/x": "http://known.example/x",
		"https://any.example/ark:/99999/x": "https://any.example/ark:/99999/x", "ark:/99999/x": "",
		"https://own.example/x": "", "http://own.example/x": "", "https://any.example/ark:/12345/x": "",
		"https://own.example/ark:/99999/x": "",
	} {
		q, err := resolver.ParseQuery(text, resolver.I2L)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := r.Resolve(t.Context(), q)
		if want == "" != errors.Is(err, resolver.ErrNotFound) ||
			want != "" && (err != nil || answer.Locations[0].URI != want) {
			t.Errorf("%s: %v, %v, want %s", text, answer.Locations, err, want)
		}
		for _, q := range []resolver.Query{
			{URI: q.URI, Service: q.Service, NamesOnly: true}, {URI: q.URI, Service: q.Service, At: time.Unix(1, 0)},
		} {
			if answer, err := r.Resolve(t.Context(), q); !errors.Is(err, resolver.ErrNotFound) {
				t.Errorf("%s, names alone %t, at %v: %v, %v", text, q.NamesOnly, q.At, answer.Locations, err)
			}
		}
	}
}
