package config_test

import (
	"slices"
	"testing"

	"github.com/urnd/urnd/config"
)

// A snapshot of the commit f5e8e4c is used: the text is what that program, made by go build, has written by the configuration
// "ddds: {enabled: false}".
func TestFormerSnapshots(t *testing.T) {
	const written = "99299c56259db53c82a612c9509b2131de51c8727b787826f4742785768068f6"
	c := config.Default()
	c.DDDS.Enabled = false
	if bases := c.SnapshotBases(); !slices.Contains(bases, written) || bases[0] != c.Basis(config.Snapshot) {
		t.Errorf("%q, want %s", bases, written)
	}
	c.DDDS.Enabled = true
	if bases := c.SnapshotBases(); slices.Contains(bases, written) {
		t.Error("a snapshot is used of another configuration")
	}
}
