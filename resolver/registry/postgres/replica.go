package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// replica is a server that serves lookups while it is available.
type replica struct {
	pool *pgxpool.Pool
	now  func() time.Time
	// away is the time until which it is not queried, in nanoseconds since 1970.
	away atomic.Int64
	lost atomic.Pointer[error] // last error; nil after a success
}

const (
	replicaTimeout = time.Second     // for a lookup; the primary serves it afterwards
	replicaPause   = 5 * time.Second // how long an unresponsive replica is not queried
)

var (
	errReplicaUnavailable = errors.New("replica unavailable")
	errReplicaLag         = errors.New("replica lagging")
)

// try runs a query on the replica, unless that is known to be unavailable.
func (r *replica) try(ctx context.Context, question func(ctx context.Context, pool *pgxpool.Pool) error) error {
	now := r.now().UnixNano()
	if now < r.away.Load() {
		return errReplicaUnavailable
	}
	bounded, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	err := question(bounded, r.pool)
	if err == nil && r.lost.Load() != nil {
		r.lost.Store(nil)
	}
	if err != nil && !errors.Is(err, errReplicaLag) && ctx.Err() == nil && isLost(err) {
		r.lost.Store(&err)
		r.away.Store(now + int64(replicaPause))
		r.pool.Reset()
	}
	return err
}
