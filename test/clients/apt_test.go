//go:build e2e

package clients

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// testAPT updates two machines and downloads a package on each. The second one gets it from the cache.
func testAPT(t *testing.T, c *clients) {
	deb := urndtest.WriteAptRepository(t, filepath.Join(c.folder, "debian"))
	for range 2 {
		root, options := urndtest.NewAptMachine(t, c.url("debian"), "http", c.URL)
		environment := []string{"APT_CONFIG=/dev/null", "LC_ALL=C"}
		// Warnings are caused by the machine, such as by a missing user.
		out := urndtest.RunProgram(t, root, environment, "apt-get", append(options, "--error-on=any", "update")...)
		if strings.Contains(out, "Err:") {
			t.Errorf("%s", out)
		}
		urndtest.RunProgram(t, root, environment, "apt-get", append(options, "download", "urnd-tiny")...)
		urndtest.WantFile(t, filepath.Join(root, "urnd-tiny_1.0_all.deb"), deb)
	}
	if n := c.requested(t, "GET /debian/pool/"); n != 1 {
		t.Errorf("the site was asked for the package %d times:\n%s", n, strings.Join(c.site.Log(t), "\n"))
	}
	if n := c.requested(t, "GET /debian/Release 304"); n != 1 {
		t.Errorf("%d validations of the Release file:\n%s", n, strings.Join(c.site.Log(t), "\n"))
	}
}
