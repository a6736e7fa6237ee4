package lookup

import (
	"context"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// redirecting caches whether any prefix sets a redirect status, so that in the usual case, without one, no
// query per name is needed. The zero value is an empty cache. It is safe for concurrent use.
type redirecting struct {
	mu    sync.Mutex
	round int       // incremented when prefixes have changed
	until time.Time // expiry of some
	some  bool
}

// maxRedirecting is how many prefixes are examined. If there are more, each name queries its own prefixes.
const maxRedirecting = 100

// get reports whether any prefix may set a redirect status. It queries the store at most once per lifetime, and
// after a change.
func (r *redirecting) get(
	ctx context.Context, store registry.Store, now time.Time, lifetime time.Duration,
) (bool, error) {
	r.mu.Lock()
	some, round, known := r.some, r.round, now.Before(r.until)
	r.mu.Unlock()
	if known {
		return some, nil
	}
	some, err := someRedirects(ctx, store)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && round == r.round { // unchanged during the query
		r.some, r.until = some, now.Add(lifetime)
	}
	return some, err
}

// someRedirects reports whether any prefix may set a redirect status, by walking the prefixes from the last to
// the first. It uses Floor only, as lookups of names do, and so depends on no other method of the store.
func someRedirects(ctx context.Context, store registry.Store) (bool, error) {
	const last = "\x7f" // greater than all characters of URIs
	text := last
	for range maxRedirecting {
		p, err := store.Floor(ctx, text)
		if err != nil || !p.Exists() || p.Redirect != 0 {
			return p.Redirect != 0, err
		}
		end := len(p.Name) - 1 // continue with the greatest text less than the prefix
		if end < 0 {
			return false, nil
		}
		text = p.Name[:end]
		if char := p.Name[end] - 1; char >= ' ' {
			text += string(rune(char)) + last
		}
	}
	return true, nil
}

// forget clears the cache.
func (r *redirecting) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round++
	r.until = time.Time{}
}

// Invalidate clears cached data that depends on changed keys. It must be called before responses are removed from a
// cache, so that later responses are computed from the changed entries.
func (r *Resolver) Invalidate(keys []registry.Key) {
	for _, key := range keys {
		if key.Kind == registry.KindPrefix {
			r.prefixes.forget()
			return
		}
	}
}

// inherited returns the redirect status of a name that sets none itself: that of its longest prefix that sets
// one, 0 for none.
func (r *Resolver) inherited(ctx context.Context, s state, name string) (int, error) {
	if _, isNow := s.(storeState); isNow {
		some, err := r.prefixes.get(ctx, r.config.Store, r.config.Now(), r.config.TTL)
		if err != nil || !some {
			return 0, err
		}
	}
	for {
		p, err := s.prefix(name)
		if err != nil || !p.Exists() || p.Redirect != 0 && p.Status == registry.Active {
			return p.Redirect, err
		}
		name = registry.EnclosingPrefix(p.Name)
	}
}
