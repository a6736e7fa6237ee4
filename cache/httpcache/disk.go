package httpcache

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/httpcache/rules"
)

const (
	// maxPromoted is the maximum length of a body, in bytes, that is promoted from disk to memory for the next
	// hit.
	maxPromoted = 64 << 10
	// oftenUsed is how many recent uses promote a body to a full memory, where it evicts other entries.
	oftenUsed = 8
	// noBodies is the limit of load that reads heads only.
	noBodies = -1
)

// mostPromoted returns the maximum length of a body that may be promoted to memory.
func (st *storage) mostPromoted() int64 { return min(maxPromoted, st.config.MaxObject) }

// load returns the entry of a key on disk, nil for none, with bodies of at most most bytes; the shard is held.
func (st *storage) load(key string, most int64) *Entry {
	var e Entry
	now := st.config.Now()
	for _, o := range st.config.Disk.Read(key, most) {
		switch s := storedOf(o); {
		case s == nil:
		case s.basis != st.config.Basis:
			_ = st.config.Disk.Remove(o) // on failure, the disk retries
		default:
			s.basis = st.config.Basis  // shares one string instead of the parsed copy
			if s.Received.After(now) { // the clock was set back since, so that the age is unknown
				s.Received = time.Unix(0, 0)
			}
			e.variants = append(e.variants, s)
		}
	}
	if len(e.variants) == 0 {
		return nil
	}
	slices.SortStableFunc(e.variants, func(a, b *stored) int { return b.Received.Compare(a.Received) })
	e.variants = st.withoutReplaced(e.variants)
	return &e
}

// withoutReplaced returns the loaded variants, the latest first, without those that a later one replaces, and removes
// these: a crash may have prevented that.
func (st *storage) withoutReplaced(variants []*stored) []*stored {
	left := variants[:0]
	for _, s := range variants {
		if slices.ContainsFunc(left, func(later *stored) bool { return later.Replaces(&s.Response) }) {
			_ = st.config.Disk.Remove(s.saved) // on failure, the disk retries
			continue
		}
		left = append(left, s)
	}
	return left
}

// contentOf returns the content of an object: in memory if it was read, otherwise on disk.
func contentOf(o *disk.Object) body.Body {
	if read, ok := o.Body(); ok {
		return body.NewBlocks(read).Body()
	}
	return body.File{Object: o}
}

// open opens a part of the content of a stored response. Content only on disk is promoted to memory if it fits
// there, or if it is in demand; otherwise content used once would evict content used often.
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

// inDemand reports whether the content of a response that is only on disk is promoted to memory.
func (st *storage) inDemand(s *stored) bool {
	if s.Length > st.mostPromoted() {
		return false
	}
	recent := s.uses.until(intervalOf(st.config.Now())).recent
	return recent >= oftenUsed || recent > 0 && st.config.Store.HasRoom(s.Length)
}

// promote reads the content of a response into memory, and stores it there if the entry still has the response.
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

// storedOf returns the stored response of an object on disk, nil if its head is invalid.
func storedOf(o *disk.Object) *stored {
	s := parseHead(o.Head())
	if s != nil {
		s.Length, s.Part, s.saved, s.content = o.Size(), rules.Span{Start: 0, End: o.Size()}, o, contentOf(o)
	}
	return s
}

// updateDisk makes the disk match the entry after, which replaces before; the shard is held. A disk error costs
// only hits. after is not published yet, nor is its slice of variants.
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
			_ = st.config.Disk.Remove(old.saved) // on failure, the disk retries
			continue
		}
		if before.has(changed) { // published; a 304 for another request has made both variants of one object
			i := slices.Index(after.variants, changed)
			changed = changed.copied()
			after.variants[i] = changed
		}
		var err error
		if changed.saved, err = st.config.Disk.Replace(old.saved, changed.head()); err != nil {
			// Otherwise the outdated object would be found after a restart.
			_ = st.config.Disk.Remove(old.saved)
			changed.saved = nil
		}
		if _, ok := changed.content.(body.File); ok && changed.saved != nil {
			changed.content = body.File{Object: changed.saved}
		}
	}
}
