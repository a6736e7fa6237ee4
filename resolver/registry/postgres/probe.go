package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Server is the result of Probe.
type Server struct {
	Version  string // of PostgreSQL
	Schema   int64  // schema version of the database, 0 if it has none
	Current  int64  // schema version of this urnd
	Writable bool
}

var (
	errNoCreate = errors.New("no registry in the database: grant CREATE on the schema to the user")
	errNoSelect = errors.New("user may not read the tables of the registry: grant SELECT")
)

// Probe checks whether a database, or a replica of it, could be used, without changing anything. Its errors are
// those of Open.
func Probe(ctx context.Context, url string, replica bool, o Options) (Server, error) {
	found, err := try(ctx, url, replica, o)
	if err != nil {
		return found, wrapError(explain(err))
	}
	return found, nil
}

func try(ctx context.Context, url string, replica bool, o Options) (found Server, err error) {
	c, err := parse(url, o)
	if err != nil {
		return found, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return found, err
	}
	defer pool.Close()
	if found.Current, err = current(pool); err != nil {
		return found, err
	}
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return found, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it has changed nothing
	var standby bool
	var mode string
	err = tx.QueryRow(ctx,
		"SELECT current_setting('server_version'), pg_is_in_recovery(), "+
			"current_setting('default_transaction_read_only')").
		Scan(&found.Version, &standby, &mode)
	if err != nil {
		return found, err
	}
	if err := checkServer(ctx, tx); err != nil {
		return found, err
	}
	if found.Schema, err = schemaOf(ctx, tx); err != nil {
		return found, err
	}
	switch {
	case found.Schema > found.Current:
		return found, newerSchemaError(found.Schema, found.Current)
	case replica && found.Schema != found.Current:
		return found, fmt.Errorf("%w: %d, this version requires %d", errSchema, found.Schema, found.Current)
	}
	may, err := mayWrite(ctx, tx, found)
	found.Writable = may && !standby && mode != "on"
	return found, err
}

// mayWrite reports whether the user has the privileges to change names, or to create the schema if there is
// none. It returns an error if the user may not read, or may not create the missing schema.
func mayWrite(ctx context.Context, tx pgx.Tx, found Server) (may bool, err error) {
	if found.Schema == 0 {
		if err = tx.QueryRow(ctx,
			"SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)").Scan(&may); err == nil && !may {
			err = errNoCreate
		}
		return may, err
	}
	return mayChange(ctx, tx)
}

// mayChange reports whether the user has the privileges to change names. It returns an error if the user may
// not read.
func mayChange(ctx context.Context, db querier) (may bool, err error) {
	var reads bool
	const question = `SELECT bool_and(has_table_privilege(t, 'SELECT')),
		bool_and(has_table_privilege(t, 'INSERT')
			AND has_table_privilege(t, 'UPDATE') AND has_table_privilege(t, 'DELETE'))
		FROM unnest(ARRAY['name', 'version', 'target', 'commits', 'token']) AS t`
	err = db.QueryRow(ctx, question).Scan(&reads, &may)
	if err == nil && !reads {
		err = errNoSelect
	}
	return may, err
}
