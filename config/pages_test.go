package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestSite checks the validation of the site section.
func TestSite(t *testing.T) {
	for _, tt := range []struct{ yaml, failure string }{
		{
			"site: {name: Bibliothek, accent: '#A00040', contact: 'mailto:a@a.example', imprint: 'https://a.example/i'}",
			"",
		},
		{"site: {texts: [{language: de, name: Eins, welcome: Zwei}, {language: fr}]}", ""},
		{"site: {name: \"a\\u0007\"}", "site.name"},
		{"site: {name: " + strings.Repeat("ä", 81) + "}", "more than 80 characters"},
		{"site: {accent: red}", "site.accent"},
		{"site: {accent: '#12345'}", "site.accent"},
		{"site: {accent: '#0645ad;'}", "site.accent"},
		{"site: {contact: a@a.example}", "write mailto:a@a.example"},
		{"site: {contact: 'javascript:alert(1)'}", "site.contact"},
		{"site: {imprint: 'javascript:alert(1)'}", "site.imprint"},
		{"site: {privacy: 'https://a@b.example/'}", "site.privacy"},
		{"site: {privacy: /privacy}", "site.privacy"},
		{"site: {language: ja}", "site.language"},
		{"site: {examples: ['']}", "site.examples.0"},
		{"site: {examples: [" + strings.Repeat("a,", 11) + "]}", "more than 10"},
		{"site: {texts: [{name: a}]}", "site.texts.0.language"},
		{"site: {sitemap: true}", "site.sitemap: requires listen.public_url: a sitemap"},
		{"site: {sitemap: true}\nlisten: {public_url: 'https://a.example'}", ""},
		{"access: {browse_clients: [0.0.0.0/0]}", ""},
		{"access: {browse_clients: ['::ffff:10.0.0.0/104']}", "write it as IPv4"},
		{"access: {browse_all_clients: [all]}", "access.browse_all_clients"},
		{"site: {texts: [{language: de}, {language: de}]}", "twice"},
		{"site: {texts: [{language: de, welcome: " + strings.Repeat("a", 1001) + "}]}", "more than 1000"},
	} {
		_, err := config.Load(write(t, "urnd.yaml", tt.yaml+"\n"), nil)
		if tt.failure == "" && err != nil ||
			tt.failure != "" && (err == nil || !strings.Contains(err.Error(), tt.failure)) {
			t.Errorf("%.80s: %v", tt.yaml, err)
		}
	}
}

// TestWarningsOfLists requires warnings if listing names has no effect, or exposes hidden names to everyone.
func TestWarningsOfLists(t *testing.T) {
	const store = "registry: {store: 'sqlite:/a'}\n"
	warns(t, "access: {browse_clients: [0.0.0.0/0]}", "access.browse_clients: is not used: registry.store is empty")
	warns(t, store+"access: {browse_all_clients: [10.1.0.0/16]}",
		"access.browse_all_clients: is not used: access.browse_clients is empty")
	warns(t, store+"access: {browse_clients: [10.1.0.0/16], browse_all_clients: [10.2.0.0/16]}",
		"access.browse_all_clients.0: 10.2.0.0/16 may not list names: add it to")
	warns(t,
		store+"listen: {service: [0.0.0.0:80]}\naccess: {browse_clients: [0.0.0.0/0], browse_all_clients: [0.0.0.0/0]}",
		"access.browse_all_clients.0: 0.0.0.0/0 covers all clients of 0.0.0.0:80, which then see reserved and "+
			"withdrawn names")
	warns(t,
		store+
			"listen: {public_url: 'https://a.example'}\nsite: {sitemap: true}\naccess: {resolve_clients: "+
			"[10.1.0.0/16]}",
		"site.sitemap: is accessible only to access.resolve_clients, which")
}
