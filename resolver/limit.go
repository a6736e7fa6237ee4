package resolver

import "context"

// Slots limit what goes on at a time. They are safe for concurrent use.
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

// Limit is a Resolver that asks Next while there are slots, and fails otherwise. Behind
// Cached it refuses names that have to be resolved, and never those that are known.
type Limit struct {
	Slots Slots
	Next  Resolver
	// Busy is the error where there is no slot; nil is ErrBusy.
	Busy error
}

// Resolve implements Resolver.
func (l Limit) Resolve(ctx context.Context, q Query) (Answer, error) {
	if !l.Slots.Take() {
		if l.Busy != nil {
			return Answer{}, l.Busy
		}
		return Answer{}, ErrBusy
	}
	defer l.Slots.Leave()
	return l.Next.Resolve(ctx, q)
}
