package disk

import (
	"bytes"
	"context"
	"slices"
	"time"
)

// listDirectories lists the existing directories; the others are known to be empty.
func (s *Store) listDirectories() error {
	names, err := s.files.rootNames()
	if err != nil {
		return err
	}
	var exists [directories]bool
	for _, name := range names {
		if n, ok := parseDirectoryName(name); ok {
			exists[n] = true
		}
	}
	for i := range exists {
		s.index.shards[i].loaded = !exists[i]
		if exists[i] {
			s.unindexed.Add(1)
		}
	}
	s.space.indexed.Store(s.unindexed.Load() == 0)
	return nil
}

// load indexes a directory unless it has been indexed. It reads only file names.
func (s *Store) load(number int) error {
	sh := &s.index.shards[number]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.loaded {
		return nil
	}
	names, err := s.files.names(number)
	if err != nil {
		s.failures.report("reading a directory", err)
		return err
	}
	var size int64
	entries := make([]entry, 0, len(names))
	for _, text := range names {
		n, ok := parseName(text)
		if !ok || n.digest.directory() != number {
			continue // not a file of the store
		}
		entries = append(entries, entry{name: n, used: uint32(n.id >> 32)})
		size += onDisk(n.length)
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.digest[:], b.digest[:]) })
	sh.entries, sh.loaded = entries, true
	s.index.objects.Add(int64(len(entries)))
	s.space.used.Add(size)
	s.unindexed.Add(-1)
	return nil
}

const (
	loadsAtOnce = 16                    // directories
	loadPause   = time.Millisecond      // minimum, after loadsAtOnce directories
	longPause   = 50 * time.Millisecond // maximum
)

// rebuild indexes all directories. It pauses as long as it has used the disk, within limits.
func (s *Store) rebuild(ctx context.Context) {
	started, loads := s.now(), 0
	for number := range directories {
		if ctx.Err() != nil {
			return
		}
		if !s.unloaded(number) {
			continue
		}
		_ = s.load(number) // reported; retried later
		if loads++; loads%loadsAtOnce == 0 {
			pause(ctx, min(max(s.now().Sub(started), loadPause), longPause))
			started = s.now()
		}
	}
	s.space.indexed.Store(true) // except for unreadable directories
}

func (s *Store) unloaded(number int) bool {
	sh := &s.index.shards[number]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return !sh.loaded
}

// pause waits for a duration, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
