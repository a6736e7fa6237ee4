package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestSpelling: a site has its own setting for spelling.
func TestSpelling(t *testing.T) {
	for _, tt := range []struct{ text, failure string }{
		{"proxy: {spelling: normal}", ""},
		{"proxy: {spelling: exact}", ""},
		{"proxy: {spelling: redirect}", ""},
		{"proxy: {spelling: other}", `proxy.spelling: "other" is not normal, exact or redirect`},
		{"proxy: {sites: [{hosts: [a.example], servers: ['http://198.51.100.1']}]}", ""},
		{"proxy: {sites: [{hosts: [a.example], servers: ['http://198.51.100.1'], spelling: normal}]}", ""},
		{"proxy: {sites: [{hosts: [a.example], servers: ['http://198.51.100.1'], spelling: exact}]}", ""},
		{
			"proxy: {sites: [{hosts: [a.example], servers: ['http://198.51.100.1'], spelling: redirect}]}",
			`proxy.sites.0.spelling: "redirect" is not exact or normal`,
		},
	} {
		_, err := config.Load(write(t, "urnd.yaml", tt.text+"\n"), nil)
		if tt.failure != "" {
			if err == nil || !strings.Contains(err.Error(), tt.failure) {
				t.Errorf("%s: %v", tt.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
}
