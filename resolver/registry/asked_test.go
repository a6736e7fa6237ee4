package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// What a registry is not asked for is not registered; what is there already can be changed.
func TestWhatIsNotAskedFor(t *testing.T) {
	f := newFixture(t)
	put := func(r *registry.Registry, key registry.Key) error {
		_, err := r.Apply(t.Context(), librarian, registry.Edit{Key: key, IfVersion: registry.Any, Change: registry.Put(leadsTo("https://a.example/"))})
		return err
	}
	if err := put(f.Registry, registry.Name("urn:b:there")); err != nil {
		t.Fatal(err)
	}
	f.config.Only = []string{"urn:a:", "urn:c:d:"}
	r := registry.New(f.config)
	const says = "would not be answered: this registry is asked only for what begins with urn:a:, urn:c:d:"
	for key, accepted := range map[registry.Key]bool{
		registry.Name("urn:a:1"): true, registry.Name("URN:A:2"): true, registry.Name("urn:c:d:1"): true, registry.Name("urn:b:there"): true,
		registry.Prefix("urn:a:x:"): true, registry.Prefix("urn:c:"): true, // some names below it are answered
		registry.Name("urn:b:new"): false, registry.Name("urn:c:e"): false, registry.Prefix("urn:b:"): false, registry.Prefix("urn:c:e:"): false,
	} {
		err := put(r, key)
		if (err == nil) != accepted || err != nil && (!errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", key, err)
		}
	}
}
