package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestValues requires that each setting is listed once, with its value as in files, and its origin.
func TestValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	text := "dns:\n  timeout: 5s\n  servers: [192.0.2.1]\naccess:\n  admin_token: credential:admin\nnamespaces:\n  " +
		"- nid: example\n    targets: [{template: 'https://a.example/{nss}'}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("URND_DNS_ROUNDS", "7")
	c, origins, err := config.LoadOrigins(path, map[string]any{"listen.admin": "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	paths := make([]string, 0, 200)
	for _, v := range c.Values(origins) {
		paths = append(paths, v.Path)
		found[v.Path] = fmt.Sprintf("%s %t %s", v.Text, v.IsDefault, strings.ReplaceAll(v.Source(), path, "FILE"))
		if v.IsDefault != (v.Origin.Kind == config.FromDefault) {
			t.Errorf("%s: %s", v.Path, found[v.Path])
		}
		if v.IsSection() || v.Doc == "" {
			t.Errorf("%s is listed: %q", v.Path, v.Doc)
		}
	}
	for path, want := range map[string]string{
		"dns.timeout":        "5s false file FILE:2:3",
		"dns.servers":        "['192.0.2.1:53'] false file FILE:3:3",
		"access.admin_token": "credential:admin false file FILE:5:3, credential admin",
		"dns.rounds":         "7 false environment URND_DNS_ROUNDS",
		"listen.admin":       "127.0.0.1:1 false flag",
		"listen.service":     "['127.0.0.1:8141'] true default",
		"registry.store":     "\"\" true default",
	} {
		if found[path] != want {
			t.Errorf("%s: %s, want %s", path, found[path], want)
		}
	}
	if !strings.HasPrefix(found["namespaces"], "[{") || !strings.HasSuffix(found["namespaces"], "false file FILE:6:1") {
		t.Error(found["namespaces"])
	}
	var settings []string
	for _, s := range config.Settings() {
		if !s.IsSection() {
			settings = append(settings, s.Path)
		}
	}
	if !slices.Equal(paths, settings) {
		t.Errorf("%q, and the settings are %q", paths, settings)
	}
	for _, v := range config.Default().Values(config.Origins{}) {
		if !v.IsDefault || v.Origin.Kind != config.FromDefault {
			t.Errorf("%s: %+v", v.Path, v)
		}
	}
}

func BenchmarkValues(b *testing.B) {
	for b.Loop() {
		config.Default().Values(config.Origins{})
	}
}
