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

// CacheConfig configures how long answers are reused without the program.
type CacheConfig struct {
	// TTL is the lifetime of an answer OK, NegativeTTL of an answer ERR; 0 stores none.
	TTL, NegativeTTL time.Duration
	// Bytes limits the memory of the answers; 0 means 1 MiB, about 2000 of them.
	Bytes int64
}

const defaultBytes = 1 << 20

// usualAnswer is the memory of a typical entry in bytes.
const usualAnswer = 512

// cached stores the answers of a pool. Its keys do not reveal the questions, which contain passwords. Errors
// are not stored.
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
	store, err := memory.New(memory.Config[Answer]{MaxBytes: config.Bytes, TypicalSize: usualAnswer, Size: Answer.size})
	if err != nil {
		return nil, fmt.Errorf("helper %s: %w", pool.config.Name, err)
	}
	c := &cached{pool: pool, config: config, store: store}
	c.answers = cache.New(cache.Config[Answer]{Store: store, Now: pool.config.Now})
	c.forget()
	return c, nil
}

// close closes the pool, which ends the questions in progress, and waits for that.
func (c *cached) close() {
	c.pool.Close()
	c.answers.Close()
	c.store.Close()
}

// forget invalidates all stored answers: it changes the secret that is part of the keys.
func (c *cached) forget() {
	var secret [sha256.Size]byte
	_, _ = rand.Read(secret[:]) // it never fails: see crypto/rand
	c.secret.Store(&secret)
}

// key returns the unique key of a list of texts: a hash with a secret, since passwords could be guessed from
// a plain hash.
func (c *cached) key(texts ...string) string {
	all := append(make([]byte, 0, 256), c.secret.Load()[:]...)
	for _, text := range texts {
		all = append(binary.AppendUvarint(all, uint64(len(text))), text...)
	}
	sum := sha256.Sum256(all)
	return string(sum[:])
}

// ttl returns the lifetime of an answer.
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

// query asks the program, and returns the lifetime of the answer.
func (c *cached) query(ctx context.Context, line string) (Answer, time.Duration, error) {
	a, err := c.pool.Query(ctx, line)
	if err == nil && a.Result == TT {
		err = fmt.Errorf("helper %s: %w: the response is of another protocol", c.pool.config.Name, ErrBroken)
	}
	if err != nil {
		return Answer{}, 0, err
	}
	return a, c.ttl(a), nil
}

// get returns the stored answer of a key, or loads it: once for all concurrent callers, as long as one of them waits.
func (c *cached) get(ctx context.Context, key string, load cache.LoadFunc[Answer]) (Answer, error) {
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
