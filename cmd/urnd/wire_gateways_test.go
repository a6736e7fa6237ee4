package main

import (
	"slices"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/uri"
)

// Each scheme belongs to one protocol gateway, and has a row in the table of schemes.
func TestGatewaysHaveNames(t *testing.T) {
	var names []string
	for _, g := range gateways(config.Default()) {
		names = append(names, g.Names...)
		if g.Service != "" && uri.DefaultPortOf(g.Names[0]) == "" {
			t.Errorf("%s: a service without port", g.Names)
		}
		if !g.Local && (g.Noun == "" || g.Service == "" || g.Setting != "gateways.enabled") {
			t.Errorf("%s: what it retrieves, or the setting that turns it off, is missing: %+v", g.Names, g.Info)
		}
		for _, name := range g.Names {
			if u, err := uri.Parse(name + ":"); err != nil || !u.IsLink() && name != "file" {
				t.Errorf("pages do not link to %s: %v", name, err)
			}
		}
	}
	slices.Sort(names)
	if got := slices.Compact(slices.Clone(names)); len(got) != len(names) || len(got) == 0 {
		t.Errorf("a scheme has two gateways: %q", names)
	}
}

// A disabled gateway has no handler; its stored responses can still be listed and purged.
func TestGatewaysTurnedOff(t *testing.T) {
	c, d := config.Default(), newDependencies()
	turnOff(t, &c)
	r, err := newResolution(c, d.resolverDependencies)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	var s service
	defer s.close()
	handlers, err := newGateways(&s, c, r, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gateways(c) {
		for _, name := range g.Names {
			if _, ok := handlers[name]; ok != g.Local {
				t.Errorf("%s has a handler: %t", name, ok)
			}
			if !gatewayInfos(c).Cacheable(name) {
				t.Errorf("responses for %s cannot be purged", name)
			}
		}
	}
}

// turnOff disables all gateways that have a setting.
func turnOff(t *testing.T, c *config.Config) {
	t.Helper()
	c.Gateways.Enabled = nil
	for _, g := range gateways(*c) {
		if g.Enabled != g.Local {
			t.Errorf("%s: it is not turned off", g.Names)
		}
	}
}
