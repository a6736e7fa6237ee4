package resolver

import (
	"cmp"
	"context"

	"github.com/urnd/urnd/internal/quota"
)

// Limit is a Resolver that asks Next while fewer queries run than the capacity of Semaphore, and fails otherwise. Behind
// Cached it limits only names that are not cached, and around a member of a Chain only those that this member is asked for.
type Limit struct {
	Semaphore quota.Semaphore
	Next      Resolver
	// Busy is the error at the capacity; nil means ErrBusy.
	Busy error
}

// Resolve implements Resolver.
func (l Limit) Resolve(ctx context.Context, q Query) (Answer, error) {
	if q.NoSlot != nil {
		return Answer{}, q.NoSlot
	}
	if !l.Semaphore.TryAcquire() {
		return Answer{}, cmp.Or(l.Busy, ErrBusy)
	}
	defer l.Semaphore.Release()
	return l.Next.Resolve(ctx, q)
}
