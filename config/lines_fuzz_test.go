package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// FuzzLines requires that no file content causes a panic, or a fault after the end of the file.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"dns:\n  timeout: 5\n", "  a: 1\nb: 2\n", "dns: {}\n---\nx: 1\n", "[[a]]\n[a.b]\nc.d = [{e=1},\n2]\n",
		"dns.timeout = 5\n[dns]\n", "x = \"\"\"\n[a]\n\"\"\"\n",
		"[[proxy.rules]]\nid = 1\n[[proxy.rules.hosts]]\n", "- a\n- b\n", "\ta: 1\n", "\xff", "a: &x [*x]\n",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, toml bool) {
		name := "urnd.yaml"
		if toml {
			name = "urnd.toml"
		}
		_, err := config.Load(write(t, name, text), nil)
		var failures config.Diagnostics
		errors.As(err, &failures)
		last := 1 + strings.Count(text, "\n") + strings.Count(text, "\r")
		for _, failure := range failures {
			if failure.Line > last {
				t.Errorf("%v is behind line %d", failure, last)
			}
		}
	})
}
