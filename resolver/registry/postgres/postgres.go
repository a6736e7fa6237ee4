package postgres

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/store"
)

// Options configure the connections to the servers.
type Options struct {
	// Replica is the URL of a read replica, "" for none.
	Replica string
	// Password returns the password for both servers. It is called for each new connection. If it is nil, or
	// returns "", the environment variable PGPASSWORD or the password file of libpq applies.
	Password func() (string, error)
	// Dial opens connections: network is "tcp", with a host name or address, or "unix". It is required.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	Now  func() time.Time // required
}

// Store is a registry.Store in a PostgreSQL database.
type Store struct {
	*store.Store
	texts   sync.Map // cache of translated statements: see statement
	primary *pgxpool.Pool
	replica *replica // nil if there is none
	// writing is held while this instance writes or waits for another one. Writers that wait for it occupy no
	// connection, which lookups need.
	writing quota.Semaphore

	readsOnly   bool                  // the URL permits a read-only server
	readOnlyErr atomic.Pointer[error] // reason why changes are rejected, as far as known; nil if they are accepted

	// seen is the greatest Seq known to this instance.
	seen atomic.Int64

	listen   sync.Once // starts listener
	listener *listener
}

// Open opens the store in the database of a URL "postgres://...", which must not have a password, and creates
// the schema if necessary. It fails soon if the server is unavailable. Errors wrap registry.ErrUnavailable or
// ErrSchema, and contain no password.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	s, err := open(ctx, url, o)
	if err != nil {
		return nil, fmt.Errorf("opening the registry in PostgreSQL: %w", wrapError(explain(err)))
	}
	return s, nil
}

func open(ctx context.Context, url string, o Options) (*Store, error) {
	s := &Store{writing: make(quota.Semaphore, 1), readsOnly: acceptsReadOnly(url)}
	s.Store = store.New(database{s})
	c, err := parse(url, o)
	if err != nil {
		return nil, err
	}
	writable(url, c)
	s.listener = newListener(ctx, c.ConnConfig, o.Password)
	if s.primary, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, o); err != nil {
		_ = s.Close() // its error adds nothing
		return nil, err
	}
	return s, nil
}

// prepare migrates the schema of the primary, and connects to the replica. One of the two may be unavailable.
func (s *Store) prepare(ctx context.Context, o Options) error {
	if o.Replica != "" {
		c, err := parse(o.Replica, o)
		if err != nil {
			return fmt.Errorf("replica: %w", err)
		}
		pool, err := pgxpool.NewWithConfig(ctx, c)
		if err != nil {
			return fmt.Errorf("replica: %w", err)
		}
		s.replica = &replica{pool: pool, now: o.Now}
	}
	err := migrate(ctx, s.primary)
	if err != nil && isLost(err) && s.replica != nil && s.replica.try(ctx, isCurrent) == nil {
		// The replica serves lookups. Writes fail until the primary is available.
		s.setPrimaryUnavailable(wrapError(explain(err)))
		return nil
	}
	if err != nil {
		return err
	}
	return s.checkWritable(ctx, s.primary)
}

// Close implements registry.Store. No other method may be running.
func (s *Store) Close() error {
	s.listen.Do(func() {}) // prevents a later start
	s.listener.close()
	s.primary.Close()
	if s.replica != nil {
		s.replica.pool.Close()
	}
	return nil
}

// Notifications implements registry.Store by LISTEN, on a connection that the first call starts to open.
func (s *Store) Notifications() <-chan struct{} {
	s.listen.Do(s.listener.start)
	return s.listener.hints
}

// database implements store.Database.
type database struct{ *Store }

// Known implements store.Database.
func (s database) Known(seq registry.Seq) {
	for {
		before := s.seen.Load()
		if int64(seq) <= before || s.seen.CompareAndSwap(before, int64(seq)) {
			return
		}
	}
}

// Check implements store.Database. It reports nothing: amcheck and checksums are left to the administrator.
func (database) Check(context.Context, func(problem string)) error { return nil }
