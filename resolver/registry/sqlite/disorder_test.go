package sqlite_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// disorder reverses the cells of all leaf pages of b-trees in a file, except for those of the schema. SQLite
// does not detect that damage when it reads (section 1.6 of its file format).
func disorder(t *testing.T, path string) {
	t.Helper()
	const tableLeaf, indexLeaf = 0x0d, 0x0a
	data, err := os.ReadFile(path)
	must(t, err)
	size := int(binary.BigEndian.Uint16(data[16:]))
	for page := range slices.Chunk(data[size:], size) {
		if page[0] != tableLeaf && page[0] != indexLeaf || bytes.Contains(page, []byte("CREATE TABLE")) {
			continue // otherwise the schema could not be read
		}
		cells := int(binary.BigEndian.Uint16(page[3:]))
		for i := range cells / 2 {
			a, b := page[8+2*i:10+2*i], page[8+2*(cells-1-i):]
			a[0], a[1], b[0], b[1] = b[0], b[1], a[0], a[1]
		}
	}
	must(t, os.WriteFile(path, data, 0o600))
}

// A paged read of a damaged registry terminates.
func TestPagesOutOfOrder(t *testing.T) {
	path := varied(t)
	disorder(t, path)
	s, err := sqlite.OpenBackup(t.Context(), path)
	must(t, err)
	defer s.Close()
	for name, read := range map[string]func(tx registry.Tx) error{
		"events":  func(tx registry.Tx) error { _, err := tx.Events(0, 1000); return err },
		"changes": func(tx registry.Tx) error { _, err := tx.Changes(0, 1000); return err },
		"list":    func(tx registry.Tx) error { _, err := tx.List(registry.KindName, "", "", 1000); return err },
		"current": func(tx registry.Tx) error { _, err := tx.Current(registry.KindName, "", 1000); return err },
		"commits": func(tx registry.Tx) error { _, err := tx.Commits(0, 1000); return err },
	} {
		if err := s.Read(t.Context(), read); !errors.Is(err, registry.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, failures, err := readAndVerify(t.Context(), path); err == nil && len(failures) == 0 {
		t.Error("it is verified")
	}
}
