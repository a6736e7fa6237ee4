package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// What a site says of itself is checked where it is written.
func TestSite(t *testing.T) {
	for _, tt := range []struct{ yaml, fault string }{
		{"site: {name: Bibliothek, accent: '#A00040', contact: 'mailto:a@a.example', imprint: 'https://a.example/i'}", ""},
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
		{"site: {texts: [{language: de}, {language: de}]}", "twice"},
		{"site: {texts: [{language: de, welcome: " + strings.Repeat("a", 1001) + "}]}", "more than 1000"},
	} {
		_, err := config.Load(write(t, "urnd.yaml", tt.yaml+"\n"), nil)
		if tt.fault == "" && err != nil || tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)) {
			t.Errorf("%.80s: %v", tt.yaml, err)
		}
	}
}
