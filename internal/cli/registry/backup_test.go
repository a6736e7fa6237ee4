package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/urnd/urnd/internal/cli/clitest"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// storeCommand runs a command of the registry on a store.
func storeCommand(t *testing.T, path string, args ...string) (out string, status int) {
	t.Helper()
	out, messages, status := run(t, "", append(args, "--config", "", "--store", "sqlite:"+path)...)
	return out + messages, status
}

// storeWith returns the path of a store with names.
func storeWith(t *testing.T, names ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	for _, name := range names {
		if out, status := storeCommand(t, path, "set", name, "--target", "https://example.org/"+name); status != 0 {
			t.Fatal(out)
		}
	}
	return path
}

func wantOutput(t *testing.T, out string, status, wantStatus int, texts ...string) {
	t.Helper()
	if status != wantStatus {
		t.Errorf("the status is %d, want %d: %s", status, wantStatus, out)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("%q does not say %q", out, text)
		}
	}
}

func TestRegistryBackup(t *testing.T) {
	path := storeWith(t, "urn:example:a")
	running, err := sqlite.Open(t.Context(), path) // like a daemon
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	out, status := storeCommand(t, path, "backup", file)
	wantOutput(t, out, status, 0, file+": a backup of ")
	out, status = storeCommand(t, path, "backup", file)
	wantOutput(t, out, status, 2, file+" exists: use --force")
	out, status = storeCommand(t, path, "backup", "--force", path)
	wantOutput(t, out, status, 2, "is the registry itself")
	out, status = storeCommand(t, path, "set", "urn:example:b", "--target", "https://example.org/b")
	wantOutput(t, out, status, 0)
	out, status = storeCommand(t, path, "verify")
	wantOutput(t, out, status, 0, "no problem was found")
	out, status = storeCommand(t, path, "verify", file)
	wantOutput(t, out, status, 0, "no problem was found")
	out, status = storeCommand(t, path, "verify", path)
	wantOutput(t, out, status, 1, "is in use")
	out, status = storeCommand(t, path, "restore", file)
	wantOutput(t, out, status, 1, "another process uses "+path)
	if err := running.Close(); err != nil {
		t.Fatal(err)
	}
	out, status = storeCommand(t, path, "restore", file)
	wantOutput(t, out, status, 0, path+" was restored from "+file,
		"the previous registry is now "+path+".before-restore")
	out, status = storeCommand(t, path, "get", "urn:example:a")
	wantOutput(t, out, status, 0, "https://example.org/urn:example:a")
	out, status = storeCommand(t, path, "get", "urn:example:b")
	wantOutput(t, out, status, 1)
	out, status = storeCommand(t, path+".before-restore", "get", "urn:example:b")
	wantOutput(t, out, status, 0)
	for _, command := range []string{"backup", "restore"} {
		_, _, err := clitest.Run(t, Command(testWiring()), "", command, file, "--config", "", "--store",
			"postgres://db.example.org/names")
		if !errors.Is(err, errNotAFile) {
			t.Errorf("%s of PostgreSQL: %v", command, err)
		}
	}
}

func TestRegistryVerifyErrors(t *testing.T) {
	path := storeWith(t, "urn:example:a")
	db, err := driver.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "UPDATE total SET active = 7")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	out, status := storeCommand(t, path, "verify")
	wantOutput(t, out, status, 1, "urn:example: totals are {Active:7", "1 problems")
	file := filepath.Join(t.TempDir(), "backup.db")
	out, status = storeCommand(t, path, "backup", file)
	wantOutput(t, out, status, 0)
	out, status = storeCommand(t, path, "restore", file)
	wantOutput(t, out, status, 1, "totals are {Active:7", errUnsound.Error())
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("there is %q", left)
	}
	if err := os.WriteFile(file, []byte("not a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, status = storeCommand(t, path, "verify", file)
	wantOutput(t, out, status, 1, "damaged", file)
}
