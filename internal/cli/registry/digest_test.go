package registry

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Every command that reads a backup compares it with its digest first.
func TestBackupDigest(t *testing.T) {
	path := storeWith(t, "urn:example:a")
	file := filepath.Join(t.TempDir(), "names of\nall.db")
	digest := file + ".sha256"
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(digest, "that of another one, which is gone")
	out, status := storeCommand(t, path, "backup", file)
	wantOutput(t, out, status, 0)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(digest)
	if want := fmt.Sprintf("\\%x  names of\\nall.db\n", sha256.Sum256(data)); string(line) != want || err != nil {
		t.Errorf("the digest is %q, %v, want %q", line, err, want)
	}
	if info, err := os.Stat(digest); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, backup, digest, want string }{
		{"another backup", string(data[:len(data)-1]) + "x", string(line), "its SHA-256 is "},
		{"another digest", string(data), fmt.Sprintf("%x  names\n", sha256.Sum256(nil)), "has e3b0c44298fc1c14"},
		{"no digest", string(data), "none\n", "is not one line of sha256sum"},
		{"two digests", string(data), string(line) + string(line), "is not one line of sha256sum"},
		{"an empty file", string(data), "", "is not one line of sha256sum"},
		{"another name", string(data), fmt.Sprintf("%x *names\n", sha256.Sum256(data)), ""},
	} {
		write(file, c.backup)
		write(digest, c.digest)
		for _, command := range []string{"verify", "restore"} {
			out, status := storeCommand(t, path, command, file)
			want := 1
			if c.want == "" {
				want = 0
			}
			t.Log(c.what)
			wantOutput(t, out, status, want, c.want)
		}
		if now, err := os.ReadFile(path); string(now) != string(stored) && c.want != "" || err != nil {
			t.Errorf("%s: the registry has changed, %v", c.what, err)
		}
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 2 { // the last one was restored
		t.Errorf("there is %q", left)
	}
}
