package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

func TestRegistryHosts(t *testing.T) {
	for _, tt := range []struct {
		hosts   []string
		failure string
	}{
		{[]string{"purl.example.org", "w3id.example.org."}, ""},
		{[]string{"purl.example.org", "PURL.example.org"}, "is listed twice"},
		{[]string{"https://purl.example.org/"}, "write purl.example.org"},
		{[]string{"purl.example.org:8080"}, "without port"},
		{[]string{"*.example.org"}, "list each host"},
		{[]string{"192.0.2.1"}, "is not a host"},
		{[]string{""}, "is not a host"},
		{[]string{"www.example.org"}, "is also the host of a site (proxy.sites.0.hosts)"},
	} {
		c := config.Default()
		c.Registry.Store, c.Registry.Hosts = "sqlite:/x", tt.hosts
		c.Proxy.Sites = []config.Site{{Hosts: []string{"WWW.example.org"}, Servers: []string{"http://192.0.2.1"}}}
		err := c.Validate()
		if tt.failure == "" && err != nil ||
			tt.failure != "" && (err == nil || !strings.Contains(err.Error(), tt.failure)) {
			t.Errorf("%q: %v", tt.hosts, err)
		}
	}
	c := config.Default()
	c.Registry.Store, c.Registry.Hosts, c.Listen.Names = "sqlite:/x", []string{"Purl.example.org."},
		[]string{"urn.example.org", "purl.example.org"}
	if text := c.Warnings().Error(); !strings.Contains(text, "listen.names.1") ||
		strings.Contains(text, "listen.names.0") {
		t.Errorf("the warnings are %s", text)
	}
	c.Registry.Store = ""
	if text := c.Warnings().Error(); !strings.Contains(text, "registry.hosts") ||
		!strings.Contains(text, "is not used") {
		t.Errorf("without a registry the warnings are %s", text)
	}
}

// TestRegistryPrefixes: the registry is queried for the names of its hosts, in addition to the names without
// registry.hosts.
func TestRegistryPrefixes(t *testing.T) {
	for _, tt := range []struct{ only, hosts, want []string }{
		{nil, nil, nil},
		{[]string{"ark:/12345/"}, nil, []string{"ark:/12345/"}},
		{nil, []string{"Purl.example.org."}, []string{"urn:", "https://purl.example.org/"}},
		{
			[]string{"ark:/12345/", "https://purl.example.org/"},
			[]string{"purl.example.org"},
			[]string{"ark:/12345/", "https://purl.example.org/"},
		},
	} {
		r := config.Registry{Owned: tt.only, Hosts: tt.hosts}
		if got := r.NamePrefixes(); !slices.Equal(got, tt.want) {
			t.Errorf("%q and %q are %q, want %q", tt.only, tt.hosts, got, tt.want)
		}
	}
}
