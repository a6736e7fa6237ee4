package disk

import (
	"context"
	"errors"
	"syscall"
	"time"
)

const (
	evictAtOnce   = 32                   // objects
	evictPause    = 2 * time.Millisecond // after so many
	retryInterval = 5 * time.Second      // after a fault of the disk
	relief        = 32                   // the part of what is used that is evicted when the disk is full
	reliefPause   = 10                   // seconds, at least, until more is
	reliefTime    = 600                  // seconds until the whole budget is tried again
)

// Run keeps the store in order until ctx ends: it removes the temporary files of processes
// that have ended, makes the index, and evicts what was not used for longest, in small
// slices. It is called once. Nothing is stored before the index is made. After a restart,
// an object counts as used when it was stored.
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
		case <-retry.C: // of what a fault of the disk has left undone
			s.removeLeftovers()
			s.rebuild(ctx)
			s.removeHidden()
			s.endRelief()
		}
	}
}

// evict removes objects until enough is free, and reports whether it could.
func (s *Store) evict(ctx context.Context) bool {
	for n := 1; s.space.used.Load() > s.space.target.Load() && ctx.Err() == nil; n++ {
		oldest, ok := s.index.oldest()
		if !ok {
			return true // all that is used is being written
		}
		if err := s.unlink(oldest); err != nil {
			s.index.use(oldest.ref(), s.seconds()) // or it is the next one again
			return false
		}
		s.evicted.Add(1)
		if n%evictAtOnce == 0 {
			pause(ctx, evictPause)
		}
	}
	return true
}

// discard removes an object if its file has this name. Where the file cannot be removed,
// the object is not found any more, and Run tries again.
func (s *Store) discard(n name) error {
	if _, ok := s.index.hide(n.ref(), &n); !ok {
		return nil // it was removed, or its head replaced
	}
	return s.unlink(n)
}

// unlink removes the file of an object, and then its entry, unless it was renamed.
func (s *Store) unlink(n name) error {
	if err := s.files.remove(n.path()); err != nil {
		s.faults.report("removing a file", err)
		s.undone.Store(true)
		return err
	}
	if s.index.drop(n) {
		s.space.release(onDisk(n.length))
	}
	return nil
}

// removeHidden removes the files of objects that are not found any more, after that failed:
// a restart would find them.
func (s *Store) removeHidden() {
	if !s.undone.Swap(false) {
		return
	}
	for number := range directories {
		for _, e := range s.index.shards[number].all() {
			if e.removed && s.unlink(e.name) != nil {
				return // it is tried again
			}
		}
	}
}

// failed reports a fault. If the disk is full before the budget is used up, it makes room,
// and lets less be used for a time.
func (s *Store) failed(operation string, err error) {
	s.faults.report(operation, err)
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

// endRelief lets the whole budget be used again, some time after the disk was full.
func (s *Store) endRelief() {
	if s.now().Unix()-s.relieved.Load() >= reliefTime {
		s.space.target.Store(s.space.usual())
	}
}
