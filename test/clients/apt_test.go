//go:build e2e

package clients

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const aptControl = `Package: urnd-tiny
Version: 1.0
Architecture: all
Maintainer: Nobody <nobody@clients.example.org>
Description: nothing but a file
`

// Two machines update and get a package. The second one gets it from the cache.
func testAPT(t *testing.T, c *clients) {
	tree := filepath.Join(t.TempDir(), "tiny")
	writeOld(t, filepath.Join(tree, "DEBIAN/control"), []byte(aptControl))
	writeOld(t, filepath.Join(tree, "usr/share/urnd-tiny/file"), octets(50_000))
	made := filepath.Join(t.TempDir(), "made.deb")
	runProgram(t, "", nil, "dpkg-deb", "--root-owner-group", "--build", tree, made)
	deb := []byte(readFile(t, made))
	packages := fmt.Sprintf("%sFilename: pool/urnd-tiny_1.0_all.deb\nSize: %d\nSHA256: %x\n\n", aptControl, len(deb), sha256.Sum256(deb))
	c.add(t, "debian/pool/urnd-tiny_1.0_all.deb", deb)
	c.add(t, "debian/Packages", []byte(packages))
	c.add(t, "debian/Release", fmt.Appendf(nil, "Date: Sat, 01 Jan 2022 00:00:00 UTC\nSHA256:\n %x %d Packages\n", sha256.Sum256([]byte(packages)), len(packages)))
	for range 2 {
		root := t.TempDir()
		for _, folder := range []string{
			"etc/apt/apt.conf.d", "etc/apt/preferences.d", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial",
			"var/lib/dpkg",
		} {
			if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		writeOld(t, filepath.Join(root, "var/lib/dpkg/status"), nil)
		writeOld(t, filepath.Join(root, "etc/apt/sources.list"), []byte("deb [trusted=yes] "+c.url("debian")+" ./\n"))
		options := []string{
			"-o", "Dir=" + root, "-o", "Dir::State::status=" + root + "/var/lib/dpkg/status", "-o", "Acquire::http::Proxy=" + c.URL, "-o", "APT::Sandbox::User=",
			"-o", "Acquire::Languages=none", "-o", "Acquire::Retries=0", "-o", "Debug::NoLocking=1",
		}
		environment := []string{"APT_CONFIG=/dev/null", "LC_ALL=C"}
		// Warnings are those of the machine, such as of a user that it does not have.
		out := runProgram(t, root, environment, "apt-get", append(options, "--error-on=any", "update")...)
		if strings.Contains(out, "Err:") {
			t.Errorf("%s", out)
		}
		runProgram(t, root, environment, "apt-get", append(options, "download", "urnd-tiny")...)
		wantFile(t, filepath.Join(root, "urnd-tiny_1.0_all.deb"), deb)
	}
	if n := c.asked(t, "GET /debian/pool/"); n != 1 {
		t.Errorf("the site was asked for the package %d times:\n%s", n, strings.Join(c.site.Log(t), "\n"))
	}
	if n := c.asked(t, "GET /debian/Release 304"); n != 1 {
		t.Errorf("%d validations of the Release file:\n%s", n, strings.Join(c.site.Log(t), "\n"))
	}
}
