package helper

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/internal/quota"
)

// maxShortLine is the length of the longest question of Basic and external ACLs in bytes, with its end: programs of Squid read as much
// at a time (HELPER_INPUT_BUFFER), and take the rest for another question.
const maxShortLine = 8 << 10

// Basic asks a program for passwords, as auth_param basic does. It is safe for concurrent use.
type Basic struct {
	cached *cached
	// queues has what one client asks at a time: half of what the program answers at a time. Others wait for no more than that where one
	// tries passwords.
	queues quota.Queues[netip.Addr]
}

// NewBasic returns a Basic, which closes the pool.
func NewBasic(pool *Pool, config CacheConfig) (*Basic, error) {
	cached, err := newCached(pool, config)
	if err != nil {
		return nil, err
	}
	return &Basic{cached: cached, queues: clientQueues(pool)}, nil
}

// clientQueues lets a client have half of the questions that a pool has at a time, and one at least.
func clientQueues(p *Pool) quota.Queues[netip.Addr] {
	return quota.Queues[netip.Addr]{Most: max(p.config.Processes*p.config.channels()/2, 1)}
}

// Check asks whether a user has this password: the answer is OK or ERR. An error wraps ErrUnavailable, or is the cause for which ctx has ended.
// A wrong password is remembered for its client alone: others could learn by the time what was mistyped.
func (b *Basic) Check(ctx context.Context, client netip.Addr, user, password string) (Answer, error) {
	// A bind with a name and without a password succeeds at many directories, for anybody: RFC 4513 section 5.1.2.
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
		if a, ok := b.cached.stored(right); ok { // another request waited with the same password
			return a, cache.NoStore, nil
		}
		// Where the client leaves meanwhile, the question is still one of its own: or else it could take all processes by leaving.
		a, ttl, err := b.ask(context.WithoutCancel(ctx), line)
		if err != nil || a.Result != OK {
			return a, ttl, err
		}
		_, err = b.cached.answers.Renew(ctx, right, func(context.Context) (Answer, time.Duration, error) { return a, ttl, nil })
		return a, cache.NoStore, err
	})
}

// ask asks the program. What may be a wrong password is one, so that its user can try another one; but it is not remembered.
func (b *Basic) ask(ctx context.Context, line string) (Answer, time.Duration, error) {
	a, ttl, err := b.cached.ask(ctx, line)
	if errors.Is(err, errSuccess) {
		return Answer{Result: ERR, Text: errSuccess.message}, cache.NoStore, nil
	}
	return a, ttl, err
}

// Close closes the pool.
func (b *Basic) Close() { b.cached.close() }

// Forget makes the program be asked for all passwords again.
func (b *Basic) Forget() { b.cached.forget() }
