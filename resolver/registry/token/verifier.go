package token

import (
	"context"
	"crypto/sha256"
	"maps"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Verifier verifies tokens. It caches valid tokens for a second, for read requests, and buffers the days on
// which tokens were used until Flush writes them. It is safe for concurrent use.
type Verifier struct {
	registry *registry.Registry

	mu    sync.Mutex
	valid map[[sha256.Size]byte]verified // by the hash of the secret
	used  map[string]string              // the day by ID, not written yet
}

type verified struct {
	token Token
	at    time.Time
}

// Limits of the cache and the buffer.
const (
	maxChecked   = 1000
	checkedFor   = time.Second
	flushTokens  = time.Minute
	maxUsedDays  = maxTokens
	flushAtClose = 5 * time.Second
)

// NewVerifier returns a Verifier for the tokens of a registry.
func NewVerifier(r *registry.Registry) *Verifier {
	return &Verifier{registry: r, valid: make(map[[sha256.Size]byte]verified), used: make(map[string]string)}
}

// Verify returns the actor of a secret; registry.ErrInvalidToken if it is not the secret of a valid token. For a
// change it always reads the store; for other requests a revoked token may remain valid for a second.
func (v *Verifier) Verify(ctx context.Context, secret string, change bool) (registry.Actor, error) {
	p, ok := ProofOf(secret)
	if !ok {
		return registry.Actor{}, registry.ErrInvalidToken
	}
	return v.VerifyProof(ctx, p, change)
}

// VerifyProof is Verify for a client that has presented the secret before, for example to log in.
func (v *Verifier) VerifyProof(ctx context.Context, p Proof, change bool) (registry.Actor, error) {
	now, key := v.registry.Now(), p.Hash
	if !change {
		if t, ok := v.known(key, now); ok {
			return t.Actor(), nil
		}
	}
	t, err := ofProof(ctx, v.registry, p)
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		delete(v.valid, key)
		return registry.Actor{}, err
	}
	if len(v.valid) >= maxChecked {
		clear(v.valid)
	}
	v.valid[key] = verified{t, now}
	if day := now.Format(dayOfUse); t.Used < day && len(v.used) < maxUsedDays {
		v.used[t.ID] = day
	}
	return t.Actor(), nil
}

// known returns the cached token of a secret.
func (v *Verifier) known(key [sha256.Size]byte, now time.Time) (Token, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	t, ok := v.valid[key]
	if !ok || now.Sub(t.at) >= checkedFor || now.Before(t.at) || !t.token.ValidAt(now) {
		return Token{}, false
	}
	return t.token, true
}

// Flush writes the days on which tokens were used, in one transaction; it writes nothing if no token was used
// on a new day.
func (v *Verifier) Flush(ctx context.Context) error {
	v.mu.Lock()
	used := maps.Clone(v.used)
	v.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	err := v.registry.Store().Write(ctx, func(tx registry.WriteTx) error {
		for id, day := range used {
			if err := tx.SetTokenUsed(id, day); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, day := range used {
		if v.used[id] == day {
			delete(v.used, id)
		}
	}
	return nil
}

// Run flushes every minute, and once more at the end, until ctx is done. failed is called with errors.
func (v *Verifier) Run(ctx context.Context, failed func(error)) {
	ticker := time.NewTicker(flushTokens)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := v.Flush(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushAtClose)
			defer cancel()
			if err := v.Flush(last); err != nil {
				failed(err)
			}
			return
		}
	}
}

// List returns the tokens that an actor may revoke. damaged has an error for each token whose permissions are
// unreadable.
func (v *Verifier) List(ctx context.Context, actor registry.Actor) (tokens []Token, damaged []error, err error) {
	if err := mayManage(actor); err != nil {
		return nil, nil, err
	}
	all, err := list(ctx, v.registry)
	for _, t := range all {
		switch {
		case !actor.Includes(t.Rights()):
		case t.Damaged != nil:
			damaged = append(damaged, t.Damaged)
		default:
			tokens = append(tokens, t.Token)
		}
	}
	return tokens, damaged, err
}
