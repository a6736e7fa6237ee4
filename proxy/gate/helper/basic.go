package helper

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/internal/quota"
)

// maxShortLine is the longest question of Basic and external ACLs in bytes, with its newline: programs of
// Squid read at most that many (HELPER_INPUT_BUFFER), and take the rest for another question.
const maxShortLine = 8 << 10

// Basic verifies passwords by a program, like auth_param basic of Squid. It is safe for concurrent use.
type Basic struct {
	cached *cached
	// queues limit the concurrent questions of one client to half of those that the program answers
	// concurrently, so that guesses of one client do not block others.
	queues quota.Queues[netip.Addr]
}

// NewBasic returns a Basic, whose Close closes the pool.
func NewBasic(pool *Pool, config CacheConfig) (*Basic, error) {
	cached, err := newCached(pool, config)
	if err != nil {
		return nil, err
	}
	return &Basic{cached: cached, queues: clientQueues(pool)}, nil
}

// clientQueues limits a client to half of the concurrent questions of a pool, and at least one.
func clientQueues(p *Pool) quota.Queues[netip.Addr] {
	return quota.Queues[netip.Addr]{MaxPerKey: p.perKey()}
}

// perKey returns half of the concurrent questions of a pool, and at least one.
func (p *Pool) perKey() int { return max(p.config.Processes*p.config.channels()/2, 1) }

// Check verifies a password: the answer is OK or ERR. An error wraps ErrUnavailable, or is the cause of the end of
// ctx. A wrong password is remembered for its client only: otherwise others could learn by timing what was mistyped.
func (b *Basic) Check(ctx context.Context, client netip.Addr, user, password string) (Answer, error) {
	// Many directories accept a bind with a name and an empty password as anonymous: RFC 4513 section 5.1.2.
	if user == "" || password == "" {
		return Answer{Result: ERR, Text: "no name or no password"}, nil
	}
	line := escape(user) + " " + escape(password)
	if len(line)+maxChannel+2 > maxShortLine {
		return Answer{Result: ERR, Text: "the name and the password are too long"}, nil
	}
	network := quota.Network(client)
	right := b.cached.key("right", user, password)
	if a, ok := b.cached.stored(right); ok {
		return a, nil
	}
	wrong := b.cached.key("wrong", network.String(), user, password)
	return b.cached.get(ctx, wrong, func(ctx context.Context) (Answer, time.Duration, error) {
		release, err := b.queues.Acquire(ctx, network)
		if err != nil {
			return Answer{}, 0, err
		}
		defer release()
		if a, ok := b.cached.stored(right); ok { // another request with the same password has just finished
			return a, cache.NoStore, nil
		}
		// If the client disconnects, its question still counts: otherwise it could occupy all processes by
		// disconnecting.
		a, ttl, err := b.query(context.WithoutCancel(ctx), line)
		if err != nil || a.Result != OK {
			return a, ttl, err
		}
		_, err = b.cached.answers.Renew(ctx, right,
			func(context.Context) (Answer, time.Duration, error) { return a, ttl, nil })
		return a, cache.NoStore, err
	})
}

// query asks the program. An ambiguous answer counts as a wrong password, so that the user can try another one,
// but it is not remembered.
func (b *Basic) query(ctx context.Context, line string) (Answer, time.Duration, error) {
	a, ttl, err := b.cached.query(ctx, line)
	if errors.Is(err, errSuccess) {
		return Answer{Result: ERR, Text: errSuccess.message}, cache.NoStore, nil
	}
	return a, ttl, err
}

// Close closes the pool.
func (b *Basic) Close() { b.cached.close() }

// Forget invalidates all stored answers.
func (b *Basic) Forget() { b.cached.forget() }
