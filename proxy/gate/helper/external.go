package helper

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/quota"
)

// External asks a program whether a request matches, like external_acl_type of Squid. It is safe for concurrent use.
type External struct {
	cached *cached
	// queues limit the concurrent questions about one user, as those of one client in Basic: rules may name many
	// groups, for which other users must not wait.
	queues quota.Queues[string]
}

// NewExternal returns an External, whose Close closes the pool.
func NewExternal(pool *Pool, config CacheConfig) (*External, error) {
	cached, err := newCached(pool, config)
	if err != nil {
		return nil, err
	}
	return &External{cached: cached, queues: quota.Queues[string]{MaxPerKey: pool.perKey()}}, nil
}

// Lookup sends the values of the format, of which the first is the user, followed by those of the ACL; an empty
// one is sent as "-", as by Squid. The answer is OK for a match, else ERR. An error is ErrLine for values that are
// too long, wraps ErrUnavailable, or is the cause of the end of ctx.
func (e *External) Lookup(ctx context.Context, values ...string) (Answer, error) {
	words := make([]string, len(values))
	for i, value := range values {
		if value == "" {
			value = "-"
		}
		words[i] = escape(value)
	}
	line := strings.Join(words, " ")
	if len(line)+maxChannel+2 > maxShortLine {
		return Answer{}, fmt.Errorf("helper %s: %w: %d bytes are too long", e.cached.pool.config.Name, ErrLine,
			len(line))
	}
	return e.cached.get(ctx, e.cached.key(line),
		func(ctx context.Context) (Answer, time.Duration, error) {
			release, err := e.queues.Acquire(ctx, words[0])
			if err != nil {
				return Answer{}, 0, err
			}
			defer release()
			return e.cached.query(ctx, line)
		})
}

// Close closes the pool.
func (e *External) Close() { e.cached.close() }

// Forget invalidates all stored answers.
func (e *External) Forget() { e.cached.forget() }
