package sqlite

import (
	"context"
	"errors"
	"sync"

	"github.com/urnd/urnd/internal/quota"
)

// The sizes of page caches, in KiB. Readers, and writers of single entries, gain nothing from more than a few
// MiB. The caches of a pool share poolCache.
const (
	bulkCache   = 32 << 10
	writerCache = 8 << 10
	readerCache = 4 << 10
	poolCache   = 32 << 10
)

// pool is a pool of connections for reading. Connections are opened on demand; the most recently used one,
// whose cache is warm, is used first. It is safe for concurrent use.
type pool struct {
	path  string
	cache int             // per connection, in KiB
	slots quota.Semaphore // one per connection in use
	// immutable files are opened without locks and without files beside them.
	immutable bool

	mu   sync.Mutex
	free []*conn
}

func newPool(path string, n int) *pool {
	return &pool{path: path, cache: max(min(readerCache, poolCache/n), 1<<10), slots: make(quota.Semaphore, n)}
}

// get returns a connection; it waits until one is free.
func (p *pool) get(ctx context.Context) (*conn, error) {
	if p.slots.Acquire(ctx) != nil {
		return nil, ctx.Err()
	}
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c, err := connect(p.path, "", p.cache, p.mode())
	if err != nil {
		p.slots.Release()
		return nil, failureOf(p.path, err)
	}
	return c, nil
}

func (p *pool) mode() mode {
	if p.immutable {
		return immutable
	}
	return reads
}

// put returns a connection to the pool.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	p.free = append(p.free, c)
	p.mu.Unlock()
	p.slots.Release()
}

// with calls f with a connection.
func (p *pool) with(ctx context.Context, f func(c *conn) error) error {
	c, err := p.get(ctx)
	if err != nil {
		return err
	}
	defer p.put(c)
	return f(c)
}

// close closes all connections, none of which may be in use.
func (p *pool) close() error {
	var err error
	for _, c := range p.free {
		err = errors.Join(err, c.close())
	}
	return err
}
