package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/store"
)

// applicationID is the application ID in the header of the registry's databases: "urnd" in ASCII.
const applicationID = 0x75726e64

// prepare creates a file that does not exist and is not lost, and migrates its schema to the current version.
// made reports whether it created the file.
func prepare(ctx context.Context, path string) (made bool, err error) {
	if err := CheckLost(path); err != nil {
		return false, err
	}
	// An empty file is a valid empty database. Names may be confidential, so only its owner may read it.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is configured
	switch {
	case err == nil:
		made = true
		if err := f.Close(); err != nil {
			return made, err
		}
	case !errors.Is(err, fs.ErrExist):
		return false, err
	}
	db, err := driver.Open(uriOf(path, "&_pragma=busy_timeout(200)"))
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	// Several processes that migrate at the same time fail with BUSY or ERROR; one succeeds, and the retries
	// find the migrated schema.
	for range prepareTries {
		if err = migrate(ctx, path, db); !errors.Is(err, sqlite3.BUSY) && !errors.Is(err, sqlite3.ERROR) {
			break
		}
	}
	return made, err
}

// prepareTries limits the retries while another process holds the file, 200 ms each.
const prepareTries = 50

func migrate(ctx context.Context, path string, db *sql.DB) error {
	if err := isOurs(ctx, db); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode=wal"); err != nil {
		return err
	}
	if err := up(ctx, path, db); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id=%d", applicationID))
	return err
}

// isOurs returns an error if a database belongs to another program, and must not be modified.
func isOurs(ctx context.Context, db *sql.DB) error {
	var id, tables int64
	if err := db.QueryRowContext(ctx, "SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM "+
		"pragma_application_id").Scan(&id, &tables); err != nil {
		return err
	}
	if id == applicationID || tables == 0 {
		return nil
	}
	var ours int64
	if err := db.QueryRowContext(ctx,
		"SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'").Scan(&ours); err != nil {
		return err
	}
	if id != 0 || ours == 0 {
		return errors.New("database of another program: use another file")
	}
	return nil
}

func provider(db *sql.DB) (*goose.Provider, error) {
	migrations, err := store.SQLite().Migrations()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, nil, goose.WithGoMigrations(migrations...),
		goose.WithDisableGlobalRegistry(true))
}

func up(ctx context.Context, path string, db *sql.DB) error {
	p, err := provider(db)
	if err != nil {
		return err
	}
	has, target, err := p.GetVersions(ctx)
	switch {
	case err != nil:
		return err
	case has == target:
		return nil
	case has > target:
		return newerSchema(path, has, target)
	}
	_, err = p.Up(ctx)
	return err
}

// shareAs gives the index of the write-ahead log the mode of the database file, since every user that may write
// to the file needs the index as well. SQLite itself does that for the log.
func shareAs(path string) error {
	file, err := os.Stat(path)
	if err != nil {
		return err
	}
	index, err := os.Stat(path + "-shm")
	if err != nil || index.Mode() == file.Mode() {
		return nil //nolint:nilerr // it does not exist while the file is not in use
	}
	if err := os.Chmod(path+"-shm", file.Mode()); err != nil && !errors.Is(err, fs.ErrPermission) {
		// An index of another user is skipped: the process of that user sets its mode.
		return err
	}
	return nil
}

func newerSchema(path string, has, knows int64) error {
	return fmt.Errorf("%w has schema %d, this version supports %d: use the urnd version that wrote it",
		about(path, registry.ErrSchema, ""), has, knows)
}

// schema returns the current version of the schema.
func schema() (int64, error) {
	migrations, err := store.SQLite().Migrations()
	if err != nil {
		return 0, err
	}
	return migrations[len(migrations)-1].Version, nil
}
