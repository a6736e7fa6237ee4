package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/store"
)

var (
	// errEncoding is the error for a database that cannot store all names.
	errEncoding = errors.New("database encoding must be UTF8: create it with ENCODING 'UTF8'")
	// errOld is the error for a server older than the tested versions.
	errOld = errors.New("the registry needs PostgreSQL 15 or newer")
)

const oldestVersion = 150000 // as server_version_num

// The advisory locks. Their scope is the database, which contains a single registry.
const (
	migrateLock = 0x75726e_0001
	writeLock   = 0x75726e_0002
)

// migrate migrates the schema to the current version, after waiting for other instances that do so.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only releases the lock
	if err := checkServer(ctx, tx); err != nil {
		return err
	}
	// A transaction-level lock, since PgBouncer would lose a session-level lock.
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrateLock)); err != nil {
		return err
	}
	has, err := schemaOf(ctx, tx)
	if err != nil {
		return err
	}
	return up(ctx, pool, has)
}

// checkServer returns an error for a server that is too old, or a database that cannot store all names.
func checkServer(ctx context.Context, db querier) error {
	var encoding, name string
	var version int
	err := db.QueryRow(ctx,
		"SELECT current_setting('server_encoding'), current_setting('server_version'), "+
			"current_setting('server_version_num')::integer").
		Scan(&encoding, &name, &version)
	if err != nil {
		return err
	}
	return checkCompatible(encoding, name, version)
}

func checkCompatible(encoding, name string, version int) error {
	switch {
	case version < oldestVersion:
		return fmt.Errorf("%w: it is %s", errOld, name)
	case encoding != "UTF8":
		return fmt.Errorf("%w: found %s", errEncoding, encoding)
	default:
		return nil
	}
}

// querier is a pool, a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, question string, args ...any) pgx.Row
}

// schemaOf returns the schema version of the database, 0 if it has none.
func schemaOf(ctx context.Context, db querier) (has int64, err error) {
	var is bool
	if err := db.QueryRow(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&is); err != nil || !is {
		return 0, err
	}
	err = db.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&has)
	return has, err
}

// provider returns the migration provider for a database, and the current schema version.
func provider(pool *pgxpool.Pool) (p *goose.Provider, target int64, err error) {
	migrations, err := store.PostgreSQL().Migrations()
	if err != nil {
		return nil, 0, err
	}
	p, err = goose.NewProvider(goose.DialectPostgres, stdlib.OpenDBFromPool(pool), nil,
		goose.WithGoMigrations(migrations...), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, 0, err
	}
	sources := p.ListSources()
	return p, sources[len(sources)-1].Version, nil
}

// up migrates a database with schema version has.
func up(ctx context.Context, pool *pgxpool.Pool, has int64) (err error) {
	p, target, err := provider(pool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	switch {
	case has == target:
		return nil
	case has > target:
		return newerSchemaError(has, target)
	}
	if _, err = p.Up(ctx); isReadOnly(err) {
		err = fmt.Errorf("server is read-only, but the schema of this urnd version must be created first: %w", err)
	}
	return err
}

// newerSchemaError returns the error for the schema of a newer version of urnd.
func newerSchemaError(has, target int64) error {
	return fmt.Errorf("%w: schema %d, this version supports %d: use the urnd version that wrote it", registry.ErrSchema,
		has, target)
}

// current returns the current schema version.
func current(pool *pgxpool.Pool) (target int64, err error) {
	p, target, err := provider(pool)
	if err != nil {
		return 0, err
	}
	return target, p.Close()
}

// errSchema is the error for a replica with a different schema version.
var errSchema = errors.New("replica with a different schema")

// isCurrent returns an error unless a database has the current schema version.
func isCurrent(ctx context.Context, pool *pgxpool.Pool) error {
	target, err := current(pool)
	if err != nil {
		return err
	}
	has, err := schemaOf(ctx, pool)
	if err == nil && has != target {
		err = errSchema
	}
	return err
}
