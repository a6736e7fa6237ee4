package disk

import (
	"context"
	"errors"
	"syscall"
	"time"
)

const (
	evictAtOnce   = 32                   // objects between two pauses
	evictPause    = 2 * time.Millisecond // duration of a pause
	retryInterval = 5 * time.Second      // after a disk failure
	relief        = 32                   // 1/relief of the used space is evicted when the disk is full
	reliefPause   = 10                   // minimum seconds until the next relief
	reliefTime    = 600                  // seconds until the whole budget is used again
)

// Run maintains the store until ctx ends: it removes the temporary files of processes that have ended, builds
// the index, and evicts the least recently used objects, in small batches. It must be called once. Nothing is
// stored until the index is complete. After a restart, the time of storing an object counts as its last use.
func (s *Store) Run(ctx context.Context) {
	s.removeLeftovers()
	s.rebuild(ctx)
	retry := time.NewTicker(retryInterval)
	defer retry.Stop()
	for ctx.Err() == nil {
		if !s.evict(ctx) {
			pause(ctx, retryInterval)
		}
		select {
		case <-ctx.Done():
		case <-s.space.wake:
		case <-retry.C: // retry what a disk failure prevented
			s.removeLeftovers()
			s.rebuild(ctx)
			s.removeHidden()
			s.endRelief()
		}
	}
}

// evict removes objects until enough space is free, and reports whether no removal failed.
func (s *Store) evict(ctx context.Context) bool {
	for n := 1; s.space.used.Load() > s.space.target.Load() && ctx.Err() == nil; n++ {
		oldest, ok := s.index.oldest()
		if !ok {
			return true // all used space belongs to files being written
		}
		if err := s.unlink(oldest); err != nil {
			s.index.use(oldest.ref(), s.seconds()) // otherwise it would be the next one again
			return false
		}
		s.evicted.Add(1)
		if n%evictAtOnce == 0 {
			pause(ctx, evictPause)
		}
	}
	return true
}

// discard removes an object if its file has this name. If the file cannot be removed, the object is hidden, and
// Run retries the removal.
func (s *Store) discard(n name) error {
	if _, ok := s.index.hide(n.ref(), &n); !ok {
		return nil // removed, or its head replaced
	}
	return s.unlink(n)
}

// unlink removes the file of an object, and then its entry, unless it was renamed.
func (s *Store) unlink(n name) error {
	if err := s.files.remove(n.path()); err != nil {
		s.failures.report("removing a file", err)
		s.undone.Store(true)
		return err
	}
	if s.index.drop(n) {
		s.space.release(onDisk(n.length))
	}
	return nil
}

// removeHidden removes the files of hidden objects whose removal failed, because a restart would find them.
func (s *Store) removeHidden() {
	if !s.undone.Swap(false) {
		return
	}
	for number := range directories {
		for _, e := range s.index.shards[number].all() {
			if e.removed && s.unlink(e.name) != nil {
				return // retried later
			}
		}
	}
}

// failed reports a disk failure. If the disk is full before the budget is used up, it starts an eviction, and
// lowers the target for reliefTime.
func (s *Store) failed(operation string, err error) {
	s.failures.report(operation, err)
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return
	}
	now, last := s.now().Unix(), s.relieved.Load()
	if now-last < reliefPause || !s.relieved.CompareAndSwap(last, now) {
		return
	}
	used := s.space.used.Load()
	s.space.target.Store(min(s.space.target.Load(), used-max(used/relief, block)))
	s.space.wakeUp()
}

// endRelief restores the usual target when reliefTime has passed since the disk was full.
func (s *Store) endRelief() {
	if s.now().Unix()-s.relieved.Load() >= reliefTime {
		s.space.target.Store(s.space.usual())
	}
}
