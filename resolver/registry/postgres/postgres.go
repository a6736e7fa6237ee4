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

// Options say how servers are reached.
type Options struct {
	// Replica is the URL of a read replica, "" for none.
	Replica string
	// Password returns the password of both, whenever a connection is made. Where it is nil, or
	// returns "", that of PGPASSWORD or of the file of passwords of libpq is used.
	Password func() (string, error)
	// Dial opens connections: network is "tcp", with a host that need not be an address, or "unix".
	// It must be set.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	Now  func() time.Time // must be set
}

// Store is a registry.Store in a database.
type Store struct {
	*store.Store
	texts   sync.Map // of statements: see statement
	primary *pgxpool.Pool
	replica *replica // nil if there is none
	// writing holds one value while this instance writes, or waits for another one: those that wait for that have
	// no connection, which look-ups need.
	writing quota.Semaphore

	readsOnly  bool                  // the URL says that changes need not be accepted
	unwritable atomic.Pointer[error] // why changes are not accepted, as far as it is known; nil where they are

	// seen is the greatest Seq that this instance knows of.
	seen atomic.Int64

	listen   sync.Once // begins listener
	listener *listener
}

// Open opens the store in the database of a URL, "postgres://...", without a password, and makes its
// schema where there is none. It fails soon where the server is away. Errors wrap registry.ErrNoStore
// or ErrSchema, and have no password.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	s, err := open(ctx, url, o)
	if err != nil {
		return nil, fmt.Errorf("opening the registry in PostgreSQL: %w", kindOf(explain(err)))
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
		_ = s.Close() // it says nothing more
		return nil, err
	}
	return s, nil
}

// prepare brings the database to the schema of this version, and connects to the replica. One of
// the two may be away.
func (s *Store) prepare(ctx context.Context, o Options) error {
	if o.Replica != "" {
		c, err := parse(o.Replica, o)
		if err != nil {
			return fmt.Errorf("the replica: %w", err)
		}
		pool, err := pgxpool.NewWithConfig(ctx, c)
		if err != nil {
			return fmt.Errorf("the replica: %w", err)
		}
		s.replica = &replica{pool: pool, now: o.Now}
	}
	err := migrate(ctx, s.primary)
	if err != nil && isLost(err) && s.replica != nil && s.replica.try(ctx, isCurrent) == nil {
		// Look-ups can be answered, and nothing is written before the primary is there.
		s.refuseWithout(kindOf(explain(err)))
		return nil
	}
	if err != nil {
		return err
	}
	return s.look(ctx, s.primary)
}

// Close implements registry.Store. No other method may be running.
func (s *Store) Close() error {
	s.listen.Do(func() {}) // it does not begin any more
	s.listener.close()
	s.primary.Close()
	if s.replica != nil {
		s.replica.pool.Close()
	}
	return nil
}

// Hint implements registry.Store: by NOTIFY, on a connection that the first call begins to make.
func (s *Store) Hint() <-chan struct{} {
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

// Check implements store.Database: amcheck and checksums are of the administrator.
func (database) Check(context.Context, func(problem string)) error { return nil }
