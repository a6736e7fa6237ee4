// Package sorter sorts records that may exceed the memory, in a temporary table of SQLite. Records enter by
// Add, and leave in byte order by Next. It follows no RFC; temporary files disappear with the process.
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

// Sorter sorts records by their bytes. Records beyond a few MiB are stored in unlinked files in a directory,
// which disappear with the process. It is not safe for concurrent use.
type Sorter struct {
	files  *files
	vfs    string // name under which files is registered
	db     *sqlite3.Conn
	insert *sqlite3.Stmt
	bound  int // bound rows of insert
	sorted *sqlite3.Stmt
}

const (
	// rowsAtOnce is how many rows a statement inserts.
	rowsAtOnce = 32
	// setup creates the table. Small runs sort faster, since they fit into the caches of the processor. No data
	// outlives the connection, so there is no journal, and the transaction never ends.
	setup = `PRAGMA page_size=16384; PRAGMA cache_size=-4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
		CREATE TABLE records (record TEXT); BEGIN`
)

// New returns a Sorter with its files in a directory; "" is the default of the system. Its methods fail after
// ctx ends. The caller must close it.
func New(ctx context.Context, directory string) (*Sorter, error) {
	s := &Sorter{files: &files{directory: directory}, vfs: "urnd-sorter-" + rand.Text()}
	vfs.Register(s.vfs, s.files)
	var err error
	// A database with a name would create a file immediately.
	if s.db, err = sqlite3.Open("file:?vfs=" + s.vfs); err == nil {
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
		return nil, errors.Join(s.fileError(err), s.Close())
	}
	return s, nil
}

// Add adds a copy of a record. It must not be called after Next.
func (s *Sorter) Add(record []byte) error {
	s.bound++
	// Texts compare faster than blobs; the bytes are the same.
	if err := s.insert.BindRawText(s.bound, record); err != nil {
		return s.fileError(err)
	}
	if s.bound < rowsAtOnce {
		return nil
	}
	s.bound = 0
	return s.fileError(s.insert.Exec())
}

// Next returns the next record in order, which is valid until the next call; io.EOF after the last one. The
// first call takes longer: it sorts.
func (s *Sorter) Next() ([]byte, error) {
	if s.bound > 0 {
		for ; s.bound < rowsAtOnce; s.bound++ {
			if err := s.insert.BindNull(s.bound + 1); err != nil {
				return nil, s.fileError(err)
			}
		}
		s.bound = 0
		if err := s.insert.Exec(); err != nil {
			return nil, s.fileError(err)
		}
	}
	switch {
	case s.sorted.Step():
		return s.sorted.ColumnRawText(0), nil
	case s.sorted.Err() != nil:
		return nil, s.fileError(s.sorted.Err())
	default:
		return nil, io.EOF
	}
}

// Close removes the stored records.
func (s *Sorter) Close() error {
	defer vfs.Unregister(s.vfs)
	if s.db == nil {
		return nil
	}
	return errors.Join(s.insert.Close(), s.sorted.Close(), s.db.Close())
}

// fileError replaces an error of SQLite by the error of the file system that caused it; nil for nil.
func (s *Sorter) fileError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite3.INTERRUPT):
		return s.db.GetInterrupt().Err()
	case s.files.failure != nil:
		err = s.files.failure
	}
	return fmt.Errorf("sorting the input: %w", err)
}
