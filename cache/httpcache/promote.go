package httpcache

import (
	"context"
	"fmt"
	"slices"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache/disk"
)

const (
	// maxPromoted is the length of a body that comes from disk into memory, so that the next hit needs no disk.
	maxPromoted = 64 << 10
	// oftenUsed is how many recent uses bring a body into memory that is full: others leave for it.
	oftenUsed = 8
	// noBodies is for what needs the heads alone.
	noBodies = -1
)

// mostPromoted is the length of a body that may come into memory.
func (c *Cache) mostPromoted() int64 { return min(maxPromoted, c.config.MaxObject) }

// load returns what the disk has for a key, nil for nothing, with bodies of at most so many octets; the shard is held.
func (c *Cache) load(key string, most int64) *Entry {
	var e Entry
	for _, o := range c.config.Disk.Read(key, most) {
		switch s := storedOf(o); {
		case s == nil:
		case s.basis != c.config.Basis && (s.basis == "" || s.basis != c.config.FormerBasis):
			_ = c.config.Disk.Remove(o) // the disk tries again
		default:
			s.basis = c.config.Basis
			e.variants = append(e.variants, s)
		}
	}
	if len(e.variants) == 0 {
		return nil
	}
	return &e
}

// contentOf returns the content of an object: in memory, where it was read.
func contentOf(o *disk.Object) content {
	if body, isRead := o.Body(); isRead {
		return blocksOf(body).inMemory()
	}
	return fileContent{o}
}

// open opens a part of the content of a stored response. One that is on disk alone comes into memory where that has room, or
// where it is in demand; else those that are used once would make those leave that are used often.
func (c *Cache) open(ctx context.Context, s *stored, part span) (Content, error) {
	if f, ok := s.content.(fileContent); ok && part == (span{0, -1}) && c.isPromoted(s) {
		content, err := c.promote(f, s)
		if err != nil {
			return nil, err
		}
		return content.open(ctx, part)
	}
	return s.content.open(ctx, part)
}

// isPromoted reports whether the content of a stored response, which is on disk alone, comes into memory.
func (c *Cache) isPromoted(s *stored) bool {
	if s.length > c.mostPromoted() {
		return false
	}
	recent := s.uses.until(intervalOf(c.config.Now())).recent
	return recent >= oftenUsed || recent > 0 && c.config.Store.HasRoom(s.length)
}

// promote reads the content of a stored response, and puts it into memory, if the response is still there.
func (c *Cache) promote(f fileContent, s *stored) (blocks, error) {
	body, err := f.object.ReadBody()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	inMemory, key := s.copied(), f.object.Key()
	inMemory.content = blocksOf(body).inMemory()
	shard := c.shard(key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if before := c.peek(key); before.has(s) {
		after := *before
		after.variants = slices.Clone(before.variants)
		after.variants[slices.Index(after.variants, s)] = inMemory
		c.config.Store.Set(cache.NewEntry(key, after.measured(), nil, 0, 0))
	}
	return blocksOf(body), nil
}

// blocksOf returns a content in memory.
func blocksOf(body []byte) blocks {
	if len(body) == 0 {
		return nil
	}
	return blocks{body}
}
