package resolver

import (
	"context"
	"fmt"
)

// Slots bound what goes on at a time. They are safe for concurrent use.
type Slots chan struct{}

// Take takes a slot, or reports that there is none.
func (s Slots) Take() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// Leave gives a slot back.
func (s Slots) Leave() { <-s }

// Limit is a Resolver that asks next while there are slots, and is ErrBusy otherwise.
// Behind Cached it sheds what has to be found out, and never what is known.
type Limit struct {
	Slots Slots
	Next  Resolver
}

// Resolve implements Resolver.
func (l Limit) Resolve(ctx context.Context, q Query) (Answer, error) {
	if !l.Slots.Take() {
		return Answer{}, fmt.Errorf("%w: %d resolutions (limits.requests)", ErrBusy, cap(l.Slots))
	}
	defer l.Slots.Leave()
	return l.Next.Resolve(ctx, q)
}
