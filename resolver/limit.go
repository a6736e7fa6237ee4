package resolver

import (
	"cmp"
	"context"

	"github.com/urnd/urnd/internal/quota"
)

// Limit is a Resolver with a concurrency limit: it queries Next unless the capacity of Semaphore is reached,
// and fails otherwise. Behind Cached it limits only queries that are not cache hits; around a member of a
// Chain, only the queries that reach this member.
type Limit struct {
	Semaphore quota.Semaphore
	Next      Resolver
	// Busy is the error at the limit; nil means ErrBusy.
	Busy error
}

// Resolve implements Resolver.
func (l Limit) Resolve(ctx context.Context, q Query) (Answer, error) {
	if q.QuotaErr != nil {
		return Answer{}, q.QuotaErr
	}
	if !l.Semaphore.TryAcquire() {
		return Answer{}, cmp.Or(l.Busy, ErrBusy)
	}
	defer l.Semaphore.Release()
	return l.Next.Resolve(ctx, q)
}
