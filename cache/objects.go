package cache

import (
	"context"
	"time"
)

// Objects is a store of byte strings by key ("place") that several processes share. An implementation is safe
// for concurrent use. It waits only briefly for a server that does not respond, and never for a write.
type Objects interface {
	// Get returns the object at place, if it is fresh and no purge selected it since its load began.
	Get(ctx context.Context, place string) (found Object, ok bool)
	// Begin marks the start of a load, and returns the function that stores its outcome, unless a purge selects
	// the outcome in between. That function may be called more than once.
	Begin() StoreFunc
	// Delete removes the object at place.
	Delete(place string)
}

// StoreFunc stores an object of about size bytes at place, for ttl but MaxObjectTTL at most. Purges select
// objects by subject. payload is called at most once, later; if it returns nil, the object at place is removed.
type StoreFunc func(place, subject string, ttl time.Duration, size int, payload func() []byte)

// MaxObjectTTL is the maximum TTL of an object.
const MaxObjectTTL = 24 * time.Hour

// Object is a byte string stored in Objects.
type Object struct {
	Payload  []byte
	Age, TTL time.Duration // since it was stored; remaining
}
