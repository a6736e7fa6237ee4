//go:build e2e

package packaging

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestPurgeOfThePackage checks that a purge only removes files that can be recreated, and lists the remaining
// ones.
func TestPurgeOfThePackage(t *testing.T) {
	t.Parallel()
	const object = "0123456789abcdef0123456789abcdef-1a2b-3c"
	state, cache, log := "var/lib/private/urnd/", "var/cache/private/urnd/", "var/log/private/urnd/"
	known := []string{
		state + "answers", state + "answers.new", state + "answers.bad",
		cache + "lock", cache + "incoming/1f.tmp", cache + "012/" + object,
		log + "access.log", log + "access.log.1", log + "access.log.2.gz", log + "access.log-20261123",
	}
	others := []string{
		state + "names.sqlite", state + "names.sqlite-wal", state + "names.db", state + "registry.before-restore",
		state + "backup/2026.tsv",
		state + "registry-jobs/1.body",
		state + "answers.tsv", cache + "mine", cache + "012/mine", cache + "abcd/" + object, log + "access.log.mine",
		log + "report.csv", "etc/credstore/urnd.key", "etc/systemd/system/urnd.service.d/user.conf",
	}
	links := []string{"var/lib/urnd", "var/cache/urnd", "var/log/urnd"}
	for _, tt := range []struct {
		name        string
		files, left []string
	}{
		{"with others", slices.Concat(known, others), others},
		{"without others", known, nil},
		{"nothing was made", nil, nil},
	} {
		root := t.TempDir()
		for _, file := range tt.files {
			writeAll(t, filepath.Join(root, file))
		}
		for _, link := range links {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, link)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("private/urnd", filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
		}
		out, err := purgeBelow(t, root)
		if err != nil {
			t.Fatalf("%s: %v: %s", tt.name, err, out)
		}
		left := filesBelow(t, root)
		want := slices.Clone(tt.left)
		if tt.left != nil { // links to remaining files are kept
			want = append(want, links...)
		}
		slices.Sort(want)
		if !slices.Equal(left, want) {
			t.Errorf("%s: %q is left, want %q", tt.name, left, want)
		}
		for _, part := range []string{
			"/names.sqlite\n", "/names.db\n", "/backup\n", "/registry-jobs\n", "/012\n", "/mine\n", "/report.csv\n",
			"/credstore/urnd.key\n",
		} {
			if strings.Contains(string(out), part) != (tt.left != nil) {
				t.Errorf("%s: it says\n%s and %q", tt.name, out, part)
			}
		}
		if tt.left == nil && len(out) > 0 {
			t.Errorf("%s: it says %s", tt.name, out)
		}
	}
}

// TestPurgeWithoutLinks: a service with a static user has its directories without links; see
// packaging/test-boot.
func TestPurgeWithoutLinks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeAll(t, filepath.Join(root, "var/lib/urnd/answers"))
	writeAll(t, filepath.Join(root, "var/lib/urnd/names.sqlite"))
	writeAll(t, filepath.Join(root, "var/cache/urnd/lock"))
	if out, err := purgeBelow(t, root); err != nil ||
		!strings.Contains(string(out), root+"/var/lib/urnd/names.sqlite\n") {
		t.Errorf("%v: %s", err, out)
	}
	if left := filesBelow(t, root); !slices.Equal(left, []string{"var/lib/urnd/names.sqlite"}) {
		t.Errorf("%q is left", left)
	}
	if _, err := os.Stat(filepath.Join(root, "var/cache/urnd")); err == nil {
		t.Error("the empty directory of the cache is left")
	}
}

// purgeBelow runs the script of the package like dpkg --root, without the programs that communicate with
// systemd.
func purgeBelow(t *testing.T, root string) ([]byte, error) {
	t.Helper()
	programs := t.TempDir()
	for _, name := range []string{"find", "sed", "sort", "rm", "rmdir"} {
		if err := os.Symlink(testserver.Need(t, name), filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile(filepath.Join(urndtest.Root(), "packaging", "postrm"))
	if err != nil {
		t.Fatal(err)
	}
	purge := exec.Command("/bin/sh", "-c", string(script), "postrm", "purge")
	purge.Env = []string{"DPKG_ROOT=" + root, "PATH=" + programs}
	return purge.CombinedOutput()
}

func writeAll(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// filesBelow returns the sorted paths of all files except directories.
func filesBelow(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, strings.TrimPrefix(path, root+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
