package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// replica is a server that is asked for look-ups, while it is there.
type replica struct {
	pool *pgxpool.Pool
	now  func() time.Time
	// away is until when it is not asked, in nanoseconds since 1970.
	away atomic.Int64
	lost atomic.Pointer[error] // why it did not answer last; nil where it has
}

const (
	replicaTimeout = time.Second     // for a look-up, which the primary answers then
	replicaPause   = 5 * time.Second // for which a replica is left alone that does not answer
)

var (
	errAway = errors.New("the replica is away")
	errLate = errors.New("the replica is late")
)

// try asks the replica, if it is there.
func (r *replica) try(ctx context.Context, question func(ctx context.Context, pool *pgxpool.Pool) error) error {
	now := r.now().UnixNano()
	if now < r.away.Load() {
		return errAway
	}
	bounded, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	err := question(bounded, r.pool)
	if err == nil && r.lost.Load() != nil {
		r.lost.Store(nil)
	}
	if err != nil && !errors.Is(err, errLate) && ctx.Err() == nil && isLost(err) {
		r.lost.Store(&err)
		r.away.Store(now + int64(replicaPause))
		r.pool.Reset()
	}
	return err
}
