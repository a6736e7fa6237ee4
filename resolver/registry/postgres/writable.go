package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/urnd/urnd/resolver/registry"
)

// acceptsReadOnly reports whether target_session_attrs in a URL (see libpq) permits a read-only server: then a
// standby is no mistake.
func acceptsReadOnly(text string) bool {
	u, err := url.Parse(text)
	return err == nil && slices.Contains([]string{"any", "read-only", "standby", "prefer-standby"},
		u.Query().Get("target_session_attrs"))
}

// ReadOnlyErr returns why the primary rejects changes; nil if it presumably accepts them, or if the URL permits
// a read-only server. The error wraps registry.ErrReadOnly if the server itself reported that.
func (s *Store) ReadOnlyErr() error {
	if why := s.readOnlyErr.Load(); why != nil {
		return *why
	}
	return nil
}

// Degraded returns why the replica is not queried; nil if it is, or if there is none. The primary serves its
// lookups meanwhile.
func (s *Store) Degraded() error {
	if s.replica == nil {
		return nil
	}
	if why := s.replica.lost.Load(); why != nil {
		return fmt.Errorf("replica unavailable, using the primary: %w", oneLine{explain(*why)})
	}
	return nil
}

// RecheckWritable checks on a new connection whether the primary accepts changes: existing connections keep the
// settings from when they were opened.
func (s *Store) RecheckWritable(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	c := s.primary.Config()
	if err := c.BeforeConnect(ctx, c.ConnConfig); err != nil {
		return
	}
	conn, err := pgx.ConnectConfig(ctx, c.ConnConfig)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was changed
	if s.checkWritable(ctx, conn) == nil && s.readOnlyErr.Load() == nil {
		s.primary.Reset()
	}
}

// checkWritable checks whether the primary accepts changes, and records the result. It returns an error only if that
// cannot be determined.
func (s *Store) checkWritable(ctx context.Context, db querier) error {
	var standby bool
	var mode string
	if err := db.QueryRow(ctx,
		"SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only')").Scan(&standby,
		&mode); err != nil {
		return err
	}
	may, err := mayChange(ctx, db)
	if err != nil {
		return err
	}
	const only = " (for a read-only urnd, add target_session_attrs=any to its URL)"
	var why string
	switch {
	case standby:
		why = "server is a standby: use the primary in the URL, or both servers" + only
	case mode == "on":
		why = "default_transaction_read_only is on for the server, database or user: turn it off" + only
	case !may:
		why = "user may not change the tables: grant INSERT, UPDATE and DELETE" + only
	}
	if why == "" {
		s.readOnlyErr.Store(nil)
		return nil
	}
	s.setReadOnly(fmt.Errorf("%w: %s", registry.ErrReadOnly, why))
	return nil
}

// setReadOnly records why the primary rejects changes.
func (s *Store) setReadOnly(why error) {
	if s.readsOnly && errors.Is(why, registry.ErrReadOnly) {
		s.readOnlyErr.Store(nil) // permitted by the URL
		return
	}
	s.readOnlyErr.Store(&why)
}

// setPrimaryUnavailable records that the primary is unavailable, and the replica is queried instead.
func (s *Store) setPrimaryUnavailable(primary error) {
	s.setReadOnly(fmt.Errorf("primary unavailable, using the replica: %w", primary))
}
