package lookup

import (
	"context"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// redirecting knows whether some prefix says a status of redirects, so that names are not asked for their prefixes where none does,
// which is nearly everywhere. The zero value knows nothing. It is safe for concurrent use.
type redirecting struct {
	mu    sync.Mutex
	round int       // grows when prefixes have changed
	until time.Time // how long some is known
	some  bool
}

// maxRedirecting is how many prefixes are looked at. Where there are more, each name is asked for its own.
const maxRedirecting = 100

// get returns whether some prefix may say a status; it asks the store at most once each lifetime, and after a change.
func (r *redirecting) get(ctx context.Context, store registry.Store, now time.Time, lifetime time.Duration) (bool, error) {
	r.mu.Lock()
	some, round, isKnown := r.some, r.round, now.Before(r.until)
	r.mu.Unlock()
	if isKnown {
		return some, nil
	}
	some, err := someRedirects(ctx, store)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && round == r.round { // nothing has changed while it was read
		r.some, r.until = some, now.Add(lifetime)
	}
	return some, err
}

// someRedirects reports whether some prefix may say a status: from the last one to the first. It looks up, as for names, so that it
// does without what names can be answered without.
func someRedirects(ctx context.Context, store registry.Store) (bool, error) {
	const last = "\x7f" // no URI has it
	text := last
	for range maxRedirecting {
		p, err := store.Floor(ctx, text)
		if err != nil || !p.Exists() || p.Redirect != 0 {
			return p.Redirect != 0, err
		}
		end := len(p.Name) - 1 // what is before it, and next to it
		if end < 0 {
			return false, nil
		}
		text = p.Name[:end]
		if octet := p.Name[end] - 1; octet >= ' ' {
			text += string(rune(octet)) + last
		}
	}
	return true, nil
}

// forget forgets what is known.
func (r *redirecting) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round++
	r.until = time.Time{}
}

// Forget tells that keys have changed. It is called before answers are removed from a cache: those that are made afterwards are made of
// what is registered then.
func (r *Resolver) Forget(keys []registry.Key) {
	for _, key := range keys {
		if key.Kind == registry.KindPrefix {
			r.prefixes.forget()
			return
		}
	}
}

// inherited returns the status of redirects of a name that says none itself: that of its longest prefix that says one, 0 for none.
func (r *Resolver) inherited(ctx context.Context, s state, name string) (int, error) {
	if _, isNow := s.(now); isNow {
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
		name = registry.Enclosing(p.Name)
	}
}
