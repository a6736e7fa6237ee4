package helper

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// External asks a program whether a request matches, as external_acl_type does. It is safe for concurrent use.
type External struct{ cached *cached }

// NewExternal returns an External, which closes the pool.
func NewExternal(pool *Pool, config CacheConfig) (*External, error) {
	cached, err := newCached(pool, config)
	if err != nil {
		return nil, err
	}
	return &External{cached}, nil
}

// Lookup asks with some values, those of the format and then those of the ACL; an empty one is "-", as Squid has it. The answer is OK where they
// match and ERR where not. An error is ErrLine where they are too long, wraps ErrUnavailable, or is the cause for which ctx has ended.
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
		return Answer{}, fmt.Errorf("helper %s: %w: its %d bytes are too long", e.cached.pool.config.Name, ErrLine, len(line))
	}
	return e.cached.get(ctx, e.cached.key(line), func(ctx context.Context) (Answer, time.Duration, error) { return e.cached.ask(ctx, line) })
}

// Close closes the pool.
func (e *External) Close() { e.cached.close() }

// Forget makes the program be asked for everything again.
func (e *External) Forget() { e.cached.forget() }
