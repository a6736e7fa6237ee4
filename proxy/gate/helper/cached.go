package helper

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
)

// CacheConfig is how long answers are used again, without the program.
type CacheConfig struct {
	// TTL is how long an answer OK is used, NegativeTTL an answer ERR; 0 is not at all.
	TTL, NegativeTTL time.Duration
	// Bytes bounds the memory of the answers; 0 is 1 MiB, about 2000 of them.
	Bytes int64
}

const defaultBytes = 1 << 20

// usualAnswer is the memory of a usual entry in bytes.
const usualAnswer = 512

// cached has the answers of a pool, by keys that no question can be made of: questions have passwords. An error is not stored.
type cached struct {
	pool    *Pool
	config  CacheConfig
	answers *cache.Cache[Answer]
	store   *memory.Store[Answer]
	secret  atomic.Pointer[[sha256.Size]byte]
}

func newCached(pool *Pool, config CacheConfig) (*cached, error) {
	if config.Bytes == 0 {
		config.Bytes = defaultBytes
	}
	store, err := memory.New(memory.Config[Answer]{MaxBytes: config.Bytes, Usual: usualAnswer, Size: Answer.size})
	if err != nil {
		return nil, fmt.Errorf("helper %s: %w", pool.config.Name, err)
	}
	c := &cached{pool: pool, config: config, store: store}
	c.answers = cache.New(cache.Config[Answer]{Store: store, Now: pool.config.Now})
	c.forget()
	return c, nil
}

// close closes the pool, which ends what is asked, and waits for that.
func (c *cached) close() {
	c.pool.Close()
	c.answers.Close()
	c.store.Close()
}

// forget makes all answers be asked for again: none of before has the keys of now.
func (c *cached) forget() {
	var secret [sha256.Size]byte
	_, _ = rand.Read(secret[:]) // it never fails: see crypto/rand
	c.secret.Store(&secret)
}

// key returns the key of some texts, which no other texts have: it is their hash with a secret, as passwords could be guessed by one without.
func (c *cached) key(texts ...string) string {
	all := append(make([]byte, 0, 256), c.secret.Load()[:]...)
	for _, text := range texts {
		all = append(binary.AppendUvarint(all, uint64(len(text))), text...)
	}
	sum := sha256.Sum256(all)
	return string(sum[:])
}

// ttl returns how long an answer is stored.
func (c *cached) ttl(a Answer) time.Duration {
	ttl := c.config.NegativeTTL
	if a.Result == OK {
		ttl = c.config.TTL
	}
	if ttl <= 0 {
		return cache.NoStore
	}
	return ttl
}

// ask asks the program, and returns how long the answer is stored.
func (c *cached) ask(ctx context.Context, line string) (Answer, time.Duration, error) {
	a, err := c.pool.Ask(ctx, line)
	if err == nil && a.Result == TT {
		err = fmt.Errorf("helper %s: %w: it answers a question of another protocol", c.pool.config.Name, ErrBroken)
	}
	if err != nil {
		return Answer{}, 0, err
	}
	return a, c.ttl(a), nil
}

// get returns the stored answer of a key, or loads it: once for all who want it at the same time, as long as one of them waits.
func (c *cached) get(ctx context.Context, key string, load cache.Load[Answer]) (Answer, error) {
	if a, ok := c.stored(key); ok {
		return a, nil
	}
	result, err := c.answers.Get(ctx, key, load)
	if errors.Is(err, cache.ErrClosed) {
		err = fmt.Errorf("helper %s: %w", c.pool.config.Name, ErrClosed)
	}
	return result.Value, err
}

// stored returns the stored answer of a key.
func (c *cached) stored(key string) (Answer, bool) {
	result, ok, err := c.answers.Hit(key)
	return result.Value, ok && err == nil
}
