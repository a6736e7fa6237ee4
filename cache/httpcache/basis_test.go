package httpcache_test

import (
	"testing"

	"github.com/urnd/urnd/cache/httpcache"
)

// A response on disk with another Basis, such as from a server that an earlier configuration allowed, is
// removed unused.
func TestBasis(t *testing.T) {
	store, closes := newDisk(t, t.TempDir())
	defer closes()
	for i, basis := range []string{"a", "a", "b", "a"} {
		s := newSite(t, func(c *httpcache.Config) { c.Disk, c.Basis = store, basis })
		s.sends(200, basis, "Cache-Control: max-age=60")
		s.expect(s.get(), 200, basis, i == 1)
	}
}
