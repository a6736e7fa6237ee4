package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

func TestDigitalLink(t *testing.T) {
	for _, tt := range []struct {
		link    config.DigitalLink
		failure string
	}{
		{config.DigitalLink{Root: "https://id.example.org/"}, ""},
		{config.DigitalLink{
			Root: "https://id.example.org/stem/", Scheme: "data-identifiers",
			Terms: "https://example.org/terms",
		}, ""},
		{config.DigitalLink{}, "is missing"},
		{config.DigitalLink{Root: "https://id.example.org/stem"}, "write https://id.example.org/stem/"},
		{config.DigitalLink{Root: "https://ID.example.org/"}, "write https://id.example.org/"},
		{config.DigitalLink{Root: "http://id.example.org/"}, "with https and without port"},
		{config.DigitalLink{Root: "https://id.example.org:8443/"}, "with https and without port"},
		{config.DigitalLink{Root: "https://192.0.2.1/"}, "with https and without port"},
		{config.DigitalLink{Root: "https://id.example.org/?x=/"}, "with https and without port"},
		{config.DigitalLink{Root: "id.example.org"}, "with https and without port"},
		{config.DigitalLink{Root: "https://id.example.org/", Scheme: "gs2"}, `"gs2" is not gs1 or data-identifiers`},
		{config.DigitalLink{Root: "https://id.example.org/", Terms: "terms"}, "is not a URL"},
		{config.DigitalLink{Root: "https://www.example.org/"}, "is also the host of a site (proxy.sites.0.hosts)"},
		{config.DigitalLink{Root: "https://twice.example.org/"}, "is listed twice"},
	} {
		c := config.Default()
		c.Registry.Store = "sqlite:/x"
		c.Registry.DigitalLink = []config.DigitalLink{{Root: "https://twice.example.org/"}, tt.link}
		c.Proxy.Sites = []config.Site{{Hosts: []string{"www.example.org"}, Servers: []string{"http://192.0.2.1"}}}
		err := c.Validate()
		if tt.failure == "" && err != nil ||
			tt.failure != "" && (err == nil || !strings.Contains(err.Error(), tt.failure)) {
			t.Errorf("%+v: %v", tt.link, err)
		}
	}
	r := config.Registry{Hosts: []string{"purl.example.org", "id.example.org"}, DigitalLink: []config.DigitalLink{
		{Root: "https://id.example.org/"}, {Root: "https://dpp.example.org/a/"}, {Root: "https://dpp.example.org/b/"},
	}}
	want := []string{"urn:", "https://purl.example.org/", "https://id.example.org/", "https://dpp.example.org/"}
	if got := r.NamePrefixes(); !slices.Equal(got, want) {
		t.Errorf("the registry is asked for %q, want %q", got, want)
	}
}
