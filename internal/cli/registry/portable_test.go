package registry

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"
)

// A portable backup, compressed or not, is verified and restored like a database file.
func TestPortableBackup(t *testing.T) {
	path := storeWith(t, "urn:example:a", "urn:example:b")
	history, _ := storeCommand(t, path, "history", "urn:example:a")
	for _, name := range []string{"names.ndjson", "names.ndjson.zst", "names.ndjson.gz"} {
		file := filepath.Join(t.TempDir(), name)
		out, status := storeCommand(t, path, "backup", "--portable", file)
		wantOutput(t, out, status, 0, file+": a backup of ")
		out, status = storeCommand(t, path, "backup", "--portable", file)
		wantOutput(t, out, status, 2, "--force")
		out, status = storeCommand(t, path, "verify", file)
		wantOutput(t, out, status, 0, "no problem was found")
		to := storeWith(t, "urn:example:other")
		out, status = storeCommand(t, to, "restore", file)
		wantOutput(t, out, status, 0, to+" was restored from "+file,
			"the previous registry is now "+to+".before-restore")
		out, status = storeCommand(t, to, "verify")
		wantOutput(t, out, status, 0, "no problem was found")
		if out, _ := storeCommand(t, to, "history", "urn:example:a"); out != history {
			t.Errorf("%s: the history is\n%s, was\n%s", name, out, history)
		}
		if info, err := os.Stat(to); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, damaged := range []string{string(text[:len(text)-2]), string(text[:len(text)/2]), "{", "{}\n"} {
			if err := errors.Join(os.WriteFile(file, []byte(damaged), 0o600), os.Remove(file+".sha256")); err != nil &&
				!errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			out, status = storeCommand(t, to, "restore", file)
			wantOutput(t, out, status, 1, "restoring "+file+": line ")
			out, status = storeCommand(t, to, "get", "urn:example:b")
			wantOutput(t, out, status, 0, "https://example.org/urn:example:b")
		}
		if left, _ := filepath.Glob(to + ".restore*"); len(left) > 0 {
			t.Errorf("there is %q", left)
		}
	}
}

// No request finds a name that is not canonical, which verify reports.
func TestVerifyCanonical(t *testing.T) {
	path := storeWith(t, "urn:example:a")
	db, err := driver.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "UPDATE name SET key = 'urn:Example:a'")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	out, status := storeCommand(t, path, "verify")
	wantOutput(t, out, status, 1, "urn:Example:a cannot be looked up: its canonical form is urn:example:a")
}
