package config_test

import (
	"testing"

	"github.com/urnd/urnd/config"
)

// TestHash requires that instances of one service have the same hash, and that a setting visible to clients
// changes it.
func TestHash(t *testing.T) {
	want := config.Default().Hash()
	for name, tt := range map[string]struct {
		change func(*config.Config)
		same   bool
	}{
		"nothing":     {func(*config.Config) {}, true},
		"addresses":   {func(c *config.Config) { c.Listen.Admin = "127.0.0.1:9" }, true},
		"directories": {func(c *config.Config) { c.Cache.Directory, c.Cache.DiskDirectory = "/a", "/b" }, true},
		"access log": {func(c *config.Config) {
			c.Log.Access = []config.AccessLog{{File: "/var/log/urnd-north/access.log"}}
		}, true},
		"a limit": {func(c *config.Config) { c.Limits.Requests++ }, false},
		"a namespace": {
			func(c *config.Config) { c.Namespaces = append(c.Namespaces, config.Namespace{NID: "book"}) },
			false,
		},
	} {
		c := config.Default()
		tt.change(&c)
		if got := c.Hash(); (got == want) != tt.same || len(got) != 16 {
			t.Errorf("%s: %s, before %s", name, got, want)
		}
	}
}
