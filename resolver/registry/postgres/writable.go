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

// acceptsReadOnly reports whether a URL says that the server need not accept changes, by what libpq knows for it: that it names a standby is
// no mistake then.
func acceptsReadOnly(text string) bool {
	u, err := url.Parse(text)
	return err == nil && slices.Contains([]string{"any", "read-only", "standby", "prefer-standby"}, u.Query().Get("target_session_attrs"))
}

// Unwritable returns why the primary accepts no changes, nil where it probably does, or need not by its URL. It is registry.ErrReadOnly where
// the server has said so.
func (s *Store) Unwritable() error {
	if why := s.unwritable.Load(); why != nil {
		return *why
	}
	return nil
}

// Degraded returns why the replica is not asked, nil where it is, or there is none: the primary answers in its place.
func (s *Store) Degraded() error {
	if s.replica == nil {
		return nil
	}
	if why := s.replica.lost.Load(); why != nil {
		return fmt.Errorf("the replica does not answer, and the primary is asked: %w", oneLine{explain(*why)})
	}
	return nil
}

// TryWriting asks the primary, by a new connection, whether it accepts changes: connections keep what was set when they were made.
func (s *Store) TryWriting(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
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
	if s.look(ctx, conn) == nil && s.unwritable.Load() == nil {
		s.primary.Reset()
	}
}

// look asks the primary whether it accepts changes, and keeps the answer. The error is that of the question.
func (s *Store) look(ctx context.Context, db questioner) error {
	var isStandby bool
	var mode string
	if err := db.QueryRow(ctx, "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only')").Scan(&isStandby, &mode); err != nil {
		return err
	}
	may, err := mayChange(ctx, db)
	if err != nil {
		return err
	}
	const only = " (where this urnd is only to read, add target_session_attrs=any to the URL of its store)"
	var why string
	switch {
	case isStandby:
		why = "it is a standby: name the primary in the URL, or both servers" + only
	case mode == "on":
		why = "default_transaction_read_only is on for it, or for this database or user: turn it off" + only
	case !may:
		why = "the user lacks the rights to change its tables: grant INSERT, UPDATE and DELETE" + only
	}
	if why == "" {
		s.unwritable.Store(nil)
		return nil
	}
	s.refuse(fmt.Errorf("%w: %s", registry.ErrReadOnly, why))
	return nil
}

// refuse keeps why the primary accepts no changes.
func (s *Store) refuse(why error) {
	if s.readsOnly && errors.Is(why, registry.ErrReadOnly) {
		s.unwritable.Store(nil) // it need not
		return
	}
	s.unwritable.Store(&why)
}

// refuseWithout keeps that the primary cannot be used, and the replica is asked in its place.
func (s *Store) refuseWithout(primary error) {
	s.refuse(fmt.Errorf("names are looked up at the replica, as the primary cannot be used: %w", primary))
}
