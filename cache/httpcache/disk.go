package httpcache

import (
	"context"
	"fmt"
	"slices"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/httpcache/rules"
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
func (st *storage) mostPromoted() int64 { return min(maxPromoted, st.config.MaxObject) }

// load returns what the disk has for a key, nil for nothing, with bodies of at most so many bytes; the shard is held.
func (st *storage) load(key string, most int64) *Entry {
	var e Entry
	for _, o := range st.config.Disk.Read(key, most) {
		switch s := storedOf(o); {
		case s == nil:
		case s.basis != st.config.Basis:
			_ = st.config.Disk.Remove(o) // the disk tries again
		default:
			s.basis = st.config.Basis // without memory of its own
			e.variants = append(e.variants, s)
		}
	}
	if len(e.variants) == 0 {
		return nil
	}
	return &e
}

// contentOf returns the content of an object: in memory, where it was read.
func contentOf(o *disk.Object) body.Body {
	if read, ok := o.Body(); ok {
		return body.NewBlocks(read).Body()
	}
	return body.File{Object: o}
}

// open opens a part of the content of a stored response. One that is on disk alone comes into memory where that has
// room, or where it is in demand; else those that are used once would make those leave that are used often.
func (st *storage) open(ctx context.Context, s *stored, part rules.Span) (body.Content, error) {
	if f, ok := s.content.(body.File); ok && part == (rules.Span{Start: 0, End: -1}) && st.inDemand(s) {
		content, err := st.promote(f, s)
		if err != nil {
			return nil, err
		}
		return content.Open(ctx, part)
	}
	return s.content.Open(ctx, part)
}

// inDemand reports whether the content of a stored response, which is on disk alone, comes into memory.
func (st *storage) inDemand(s *stored) bool {
	if s.Length > st.mostPromoted() {
		return false
	}
	recent := s.uses.until(intervalOf(st.config.Now())).recent
	return recent >= oftenUsed || recent > 0 && st.config.Store.HasRoom(s.Length)
}

// promote reads the content of a stored response, and puts it into memory, if the response is still there.
func (st *storage) promote(f body.File, s *stored) (body.Blocks, error) {
	read, err := f.Object.ReadBody()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", body.ErrLost, err)
	}
	inMemory, key := s.copied(), f.Object.Key()
	inMemory.content = body.NewBlocks(read).Body()
	shard := st.shard(key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if before := st.peek(key); before.has(s) {
		after := *before
		after.variants = slices.Clone(before.variants)
		after.variants[slices.Index(after.variants, s)] = inMemory
		st.set(key, &after)
	}
	return body.NewBlocks(read), nil
}

// storedOf returns the stored response of an object on disk, nil where its head is not valid.
func storedOf(o *disk.Object) *stored {
	s := parseHead(o.Head())
	if s != nil {
		s.Length, s.Part, s.saved, s.content = o.Size(), rules.Span{Start: 0, End: o.Size()}, o, contentOf(o)
	}
	return s
}

// updateDisk makes the disk have what an entry has, in place of another one; the shard is held. An error
// of the disk costs hits only. after is not published yet.
func (st *storage) updateDisk(before, after *Entry) {
	if st.config.Disk == nil || before == nil {
		return
	}
	for _, old := range before.variants {
		if old.saved == nil || after.has(old) {
			continue
		}
		changed := after.successor(old)
		if changed == nil {
			_ = st.config.Disk.Remove(old.saved) // the disk tries again
			continue
		}
		var err error
		if changed.saved, err = st.config.Disk.Replace(old.saved, changed.head()); err != nil {
			// Or what is outdated would be found after a restart.
			_ = st.config.Disk.Remove(old.saved)
			changed.saved = nil
		}
		if _, ok := changed.content.(body.File); ok && changed.saved != nil {
			changed.content = body.File{Object: changed.saved}
		}
	}
}
