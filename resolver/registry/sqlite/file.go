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

// applicationID is in the header of our databases: "urnd" in ASCII.
const applicationID = 0x75726e64

// prepare makes a file where there is and was none, and brings its schema to that of this version. made is whether it did.
func prepare(ctx context.Context, path string) (made bool, err error) {
	if err := Lost(path); err != nil {
		return false, err
	}
	// An empty file is an empty database. Names may be private: it is its owner's alone.
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
	// Processes that do it at once are in each other's way: one goes on, and the others find what it did.
	for range prepareTries {
		if err = migrate(ctx, path, db); !errors.Is(err, sqlite3.BUSY) && !errors.Is(err, sqlite3.ERROR) {
			break
		}
	}
	return made, err
}

// prepareTries bounds for how long, at 200 ms each, another process may keep a file from being prepared.
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

// isOurs returns an error if a database is that of another program, which is not to be changed.
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
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'").Scan(&ours); err != nil {
		return err
	}
	if id != 0 || ours == 0 {
		return errors.New("it is the database of another program: use another file")
	}
	return nil
}

func provider(db *sql.DB) (*goose.Provider, error) {
	migrations, err := store.SQLite().Migrations()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, nil, goose.WithGoMigrations(migrations...), goose.WithDisableGlobalRegistry(true))
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

// shareAs gives the index of the write-ahead log the mode of the file: who may write to the
// one needs the other. SQLite does so for the log itself.
func shareAs(path string) error {
	file, err := os.Stat(path)
	if err != nil {
		return err
	}
	index, err := os.Stat(path + "-shm")
	if err != nil || index.Mode() == file.Mode() {
		return nil //nolint:nilerr // there is none where the file is not in use
	}
	if err := os.Chmod(path+"-shm", file.Mode()); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err // where it is another user's, that one has done it
	}
	return nil
}

func newerSchema(path string, has, knows int64) error {
	return fmt.Errorf("%w has schema %d, and this version knows %d: use the urnd that has written it", about(path, registry.ErrSchema, ""), has, knows)
}

// schema returns the version of the schema that this version of urnd has.
func schema() (int64, error) {
	migrations, err := store.SQLite().Migrations()
	if err != nil {
		return 0, err
	}
	return migrations[len(migrations)-1].Version, nil
}
