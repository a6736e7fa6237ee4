package registry

import (
	"context"
	"crypto/sha256"
	"maps"
	"sync"
	"time"
)

// TokenCheck verifies tokens. It remembers for a second which ones were valid, for requests that read, and
// when tokens were used, until Flush writes that. It is safe for concurrent use.
type TokenCheck struct {
	registry *Registry

	mu    sync.Mutex
	valid map[[sha256.Size]byte]checkedToken // by the hash of the secret
	used  map[string]string                  // by ID, the day, which is not written yet
}

type checkedToken struct {
	token Token
	at    time.Time
}

// Bounds of what a TokenCheck remembers.
const (
	maxChecked   = 1000
	checkedFor   = time.Second
	flushTokens  = time.Minute
	maxUsedDays  = maxTokens
	flushAtClose = 5 * time.Second
)

// NewTokenCheck returns a TokenCheck for the tokens of a registry.
func NewTokenCheck(r *Registry) *TokenCheck {
	return &TokenCheck{registry: r, valid: make(map[[sha256.Size]byte]checkedToken), used: make(map[string]string)}
}

// Verify returns who uses a secret; ErrToken if it is not that of a valid token. Where it is for a change, the
// store is asked; otherwise a token may be used for a second after it was revoked.
func (c *TokenCheck) Verify(ctx context.Context, secret string, change bool) (Actor, error) {
	now := c.registry.Now()
	key := sha256.Sum256([]byte(secret))
	if !change {
		if t, ok := c.checked(key, now); ok {
			return t.Actor(), nil
		}
	}
	t, err := c.registry.Token(ctx, secret)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		delete(c.valid, key)
		return Actor{}, err
	}
	if len(c.valid) >= maxChecked {
		clear(c.valid)
	}
	c.valid[key] = checkedToken{t, now}
	if day := now.Format(dayOfUse); t.Used < day && len(c.used) < maxUsedDays {
		c.used[t.ID] = day
	}
	return t.Actor(), nil
}

// checked returns the token of a secret that was valid within the last second.
func (c *TokenCheck) checked(key [sha256.Size]byte, now time.Time) (Token, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.valid[key]
	if !ok || now.Sub(t.at) >= checkedFor || now.Before(t.at) || !t.token.validAt(now) {
		return Token{}, false
	}
	return t.token, true
}

// Flush writes on which days tokens were used since the last time: one transaction, and none where no token
// was used on a new day.
func (c *TokenCheck) Flush(ctx context.Context) error {
	c.mu.Lock()
	used := maps.Clone(c.used)
	c.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	err := c.registry.config.Store.Write(ctx, func(tx WriteTx) error {
		for id, day := range used {
			value, err := tx.Document(TableTokens, id)
			if err != nil {
				return err
			}
			if value == nil { // it was revoked
				continue
			}
			t, err := decodeToken(value)
			if err != nil || t.Used >= day {
				continue // one token that is damaged does not stop the others
			}
			t.Used = day
			if err := putToken(tx, t); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, day := range used {
		if c.used[id] == day {
			delete(c.used, id)
		}
	}
	return nil
}

// Run flushes every minute, and once more at its end, until ctx is done. failed is called with errors.
func (c *TokenCheck) Run(ctx context.Context, failed func(error)) {
	ticker := time.NewTicker(flushTokens)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := c.Flush(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushAtClose)
			defer cancel()
			if err := c.Flush(last); err != nil {
				failed(err)
			}
			return
		}
	}
}
