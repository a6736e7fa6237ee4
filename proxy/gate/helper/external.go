package helper

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// External asks a program whether a request matches, like external_acl_type of Squid. It is safe for concurrent use.
type External struct{ cached *cached }

// NewExternal returns an External, whose Close closes the pool.
func NewExternal(pool *Pool, config CacheConfig) (*External, error) {
	cached, err := newCached(pool, config)
	if err != nil {
		return nil, err
	}
	return &External{cached}, nil
}

// Lookup sends the values of the format, followed by those of the ACL; an empty one is sent as "-", as by
// Squid. The answer is OK for a match, else ERR. An error is ErrLine for values that are too long, wraps
// ErrUnavailable, or is the cause of the end of ctx.
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
		func(ctx context.Context) (Answer, time.Duration, error) { return e.cached.query(ctx, line) })
}

// Close closes the pool.
func (e *External) Close() { e.cached.close() }

// Forget invalidates all stored answers.
func (e *External) Forget() { e.cached.forget() }
