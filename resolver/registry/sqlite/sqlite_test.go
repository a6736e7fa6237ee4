package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/registrytest"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

func TestStore(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	registrytest.Run(t, func(t *testing.T) registrytest.Database {
		path := filepath.Join(t.TempDir(), "registry.db")
		connect := func() registry.Store {
			s, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		return registrytest.Database{Connect: connect, Exec: func(statement string) { execute(t, path, statement) }}
	})
}

// execute runs a statement in a file. Its error is logged only.
func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := driver.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Log(err)
	}
}
