package main

import (
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/urnns/digitallink"
)

// The schemes that the configuration accepts are those that exist.
func TestIdentifierSchemes(t *testing.T) {
	c := config.Default()
	c.Registry.Store = "sqlite:/x"
	for _, name := range append(digitallink.SchemeNames(), "") {
		c.Registry.DigitalLink = append(c.Registry.DigitalLink,
			config.DigitalLink{Root: "https://id.example/" + name + "s/", Scheme: name})
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if roots, err := rootsOf(c.Registry); err != nil || len(roots) != len(c.Registry.DigitalLink) ||
		roots[0].Scheme == nil {
		t.Errorf("%v, %v", roots, err)
	}
}
