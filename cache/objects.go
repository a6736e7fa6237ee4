package cache

import (
	"context"
	"time"
)

// Objects are octets at places that several processes share. An implementation is safe for concurrent use. It waits little for what does
// not answer, and never for what is written.
type Objects interface {
	// Get returns what is stored at a place, if it is fresh, and no purge was about it since its load began.
	Get(ctx context.Context, place string) (found Object, ok bool)
	// Begin begins a load, and returns what stores its outcome: not where a purge that is about it comes in between. It may be called more
	// than once.
	Begin() StoreObject
	// Delete removes what is stored at a place.
	Delete(place string)
}

// StoreObject stores octets at a place, about size of them, for a TTL of MaxObjectTTL at most. Purges select them by the subject. payload is
// called at most once, later; where it returns nil, what is stored there is removed.
type StoreObject func(place, subject string, ttl time.Duration, size int, payload func() []byte)

// MaxObjectTTL is how long an object is stored at most.
const MaxObjectTTL = 24 * time.Hour

// Object is what is stored at a place.
type Object struct {
	Payload  []byte
	Age, TTL time.Duration // since it was stored, and from now on
}
