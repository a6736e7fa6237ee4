package config_test

import (
	"slices"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestHandlePrefix: the names of handles in the registry (RFC 3651 section 2); DOIs are handles whose prefix
// starts with "10.".
func TestHandlePrefix(t *testing.T) {
	for want, h := range map[string]config.Handle{
		"hdl:20.500.1/": {Prefix: "20.500.1"}, "doi:10.5555/": {Prefix: "10.5555"},
		"urn:example:": {Prefix: "10.5555", Names: "urn:example:"},
	} {
		if got := h.NamePrefix(); got != want {
			t.Errorf("%+v: %s, want %s", h, got, want)
		}
	}
}

func TestHandleErrors(t *testing.T) {
	_, err := config.Load(write(t, "urnd.yaml", `
registry:
  handles:
    - {prefix: 20.500.1, names: "urn:example:"}
    - {prefix: "20.500.1"}
    - {names: "urn:example:"}
    - {prefix: "20.500/1"}
    - {prefix: "20..1", names: "nothing"}
    - {prefix: "10.5555", names: "urn:example:a?b"}
    - {prefix: "20.ÄB"}
`), nil)
	want := []string{
		"registry.handles.1.prefix", "registry.handles.2.prefix", "registry.handles.3.prefix",
		"registry.handles.4.names", "registry.handles.4.prefix", "registry.handles.5.names",
		"registry.handles.6.prefix",
	}
	got := paths(err)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("faults at %q, want %q\n%v", got, want, err)
	}
}

// TestHandleWarnings: handle prefixes for which the registry is never queried are probably a mistake.
func TestHandleWarnings(t *testing.T) {
	c := config.Default()
	c.Registry.Handles = []config.Handle{{Prefix: "20.500.1", Names: "urn:example:"}, {Prefix: "10.5555"}}
	warned := func() (all []string) {
		for _, f := range c.Warnings() {
			if slices.Contains([]string{"registry.handles.0", "registry.handles.1"}, f.Path) {
				all = append(all, f.Path)
			}
		}
		return all
	}
	if got := warned(); !slices.Equal(got, []string{"registry.handles.0", "registry.handles.1"}) {
		t.Errorf("without a registry: %q", got)
	}
	c.Registry.Store = "sqlite:/registry.db"
	if got := warned(); got != nil {
		t.Errorf("with all names: %q", got)
	}
	c.Registry.Owned = []string{"urn:example:"}
	if got := warned(); !slices.Equal(got, []string{"registry.handles.1"}) {
		t.Errorf("with some URNs: %q", got)
	}
	c.Registry.Owned = []string{"urn:", "doi:10.5555/"}
	if got := warned(); got != nil {
		t.Errorf("with all of them: %q", got)
	}
}
