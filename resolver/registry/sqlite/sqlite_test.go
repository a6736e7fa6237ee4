package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/registrytest"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

func TestStore(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	registrytest.Run(t, func(t *testing.T) func() registry.Store {
		path := filepath.Join(t.TempDir(), "registry.db")
		return func() registry.Store {
			s, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
