package registry_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

func TestCheckPattern(t *testing.T) {
	for pattern, want := range map[string]bool{
		"": true, `^\d+$`: true, `a|b`: true, `(`: false, `a)(b`: false, `(?=a)`: false, strings.Repeat("a", registry.MaxPattern+1): false,
	} {
		if err := registry.CheckPattern(pattern); (err == nil) != want {
			t.Errorf("%.20q: %v", pattern, err)
		}
	}
}

// What follows a prefix is as a whole of its pattern; what is registered itself need not be.
func TestPattern(t *testing.T) {
	f := newFixture(t)
	leads := leadsTo("https://example.org/")
	f.put(t, registry.Name("urn:example:own"), leads)
	leads.Pattern = `[0-9]{2}|x`
	f.put(t, registry.Prefix("urn:example:"), leads)
	for name, want := range map[string]bool{
		"urn:example:12": true, "urn:example:x": true, "urn:example:123": false, "urn:example:1x": false, "urn:example:own": true,
	} {
		_, err := resolved(t, f.Store(), name, resolver.I2L, time.Time{})
		if want && err != nil || !want && (!errors.Is(err, resolver.ErrNotFound) || !strings.Contains(err.Error(), "is not of the form")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
