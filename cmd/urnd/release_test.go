package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// A release of the same source is the same, octet by octet, whatever directory it is built in, and holds what it should.
func TestReleaseIsReproducible(t *testing.T) {
	testserver.Need(t, "dpkg-deb")
	list, err := exec.Command("git", "-C", "../..", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatalf("listing the files of the source: %v", err)
	}
	var sums []string
	var directory string
	for _, name := range []string{"a", "another"} {
		directory = filepath.Join(t.TempDir(), name)
		copySource(t, list, directory)
		make := exec.Command("make", "-s", "-C", directory, "release", "PLATFORMS=linux/"+runtime.GOARCH,
			"VERSION=1.2.3", "DEB_VERSION=1.2.3", "SOURCE_DATE_EPOCH=1700000000")
		if out, err := make.CombinedOutput(); err != nil {
			t.Fatalf("make release: %v\n%s", err, out)
		}
		sums = append(sums, readFile(t, filepath.Join(directory, "dist/release/SHA256SUMS")))
	}
	if sums[0] != sums[1] {
		t.Errorf("the sums are\n%s\nand\n%s", sums[0], sums[1])
	}
	for _, suffix := range []string{".tar.gz", ".cdx.json", ".deb", ".rpm"} {
		if strings.Count(sums[0], suffix+"\n") != 1 {
			t.Errorf("there is no file %s in\n%s", suffix, sums[0])
		}
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = filepath.Join(directory, "dist/release")
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// copySource copies the files of a list, each ended by a zero octet.
func copySource(t *testing.T, list []byte, directory string) {
	t.Helper()
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	pack := exec.Command("sh", "-c", `tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory "$0"`, directory)
	pack.Dir, pack.Stdin = "../..", strings.NewReader(string(list))
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("copying the source: %v\n%s", err, out)
	}
}
