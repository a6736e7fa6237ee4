// Package sorter sorts records that need not fit into memory, in a temporary table of SQLite.
package sorter

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// Sorter sorts records by their octets. What does not fit into some MiB is in files in a directory, which have no names,
// so that they vanish with the process. It is not safe for concurrent use.
type Sorter struct {
	files  *files
	vfs    string // the name of files
	db     *sqlite3.Conn
	insert *sqlite3.Stmt
	bound  int // rows of insert
	sorted *sqlite3.Stmt
}

const (
	// rowsAtOnce is how many rows a statement inserts.
	rowsAtOnce = 32
	// setup makes the table. Small runs are sorted faster, as they fit into the caches of processors. Nothing is to outlive
	// the connection, so that there is neither a journal nor an end of the transaction.
	setup = `PRAGMA page_size=16384; PRAGMA cache_size=-4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
		CREATE TABLE records (record TEXT); BEGIN`
)

// New returns a Sorter with its files in a directory; "" is the default of the system. It ends with ctx. The caller
// closes it.
func New(ctx context.Context, directory string) (*Sorter, error) {
	s := &Sorter{files: &files{directory: directory}, vfs: "urnd-sorter-" + rand.Text()}
	vfs.Register(s.vfs, s.files)
	var err error
	if s.db, err = sqlite3.Open("file:?vfs=" + s.vfs); err == nil { // with a name there would be a file at once
		s.db.SetInterrupt(ctx)
		err = s.db.Exec(setup)
	}
	if err == nil {
		s.insert, _, err = s.db.Prepare("INSERT INTO records VALUES " + strings.Repeat("(?),", rowsAtOnce-1) + "(?)")
	}
	if err == nil {
		s.sorted, _, err = s.db.Prepare("SELECT record FROM records WHERE record NOTNULL ORDER BY record")
	}
	if err != nil {
		return nil, errors.Join(s.fault(err), s.Close())
	}
	return s, nil
}

// Add adds a record, which is copied. None is added after the first call of Next.
func (s *Sorter) Add(record []byte) error {
	s.bound++
	// Texts are compared faster than blobs, and are octets as well.
	if err := s.insert.BindRawText(s.bound, record); err != nil {
		return s.fault(err)
	}
	if s.bound < rowsAtOnce {
		return nil
	}
	s.bound = 0
	return s.fault(s.insert.Exec())
}

// Next returns the next record, in order, until the next call; io.EOF after the last one. The first call takes some time:
// it sorts.
func (s *Sorter) Next() ([]byte, error) {
	if s.bound > 0 {
		for ; s.bound < rowsAtOnce; s.bound++ {
			if err := s.insert.BindNull(s.bound + 1); err != nil {
				return nil, s.fault(err)
			}
		}
		s.bound = 0
		if err := s.insert.Exec(); err != nil {
			return nil, s.fault(err)
		}
	}
	switch {
	case s.sorted.Step():
		return s.sorted.ColumnRawText(0), nil
	case s.sorted.Err() != nil:
		return nil, s.fault(s.sorted.Err())
	default:
		return nil, io.EOF
	}
}

// Close removes what was stored.
func (s *Sorter) Close() error {
	defer vfs.Unregister(s.vfs)
	if s.db == nil {
		return nil
	}
	return errors.Join(s.insert.Close(), s.sorted.Close(), s.db.Close())
}

// fault returns an error of SQLite with that of the file system that led to it; nil for nil.
func (s *Sorter) fault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite3.INTERRUPT):
		return s.db.GetInterrupt().Err()
	case s.files.fault != nil:
		err = s.files.fault
	}
	return fmt.Errorf("sorting the input: %w", err)
}
