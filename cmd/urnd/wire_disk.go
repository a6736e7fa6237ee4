package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/systemd"
)

// diskStore is the store of HTTP responses on disk; the zero value is none.
type diskStore struct{ *disk.Store }

var errDiskDirectory = errors.New("cache.disk: there is no directory: set cache.disk_directory, or CacheDirectory in the unit of systemd")

// newDisk returns the store of HTTP responses on disk: the one of the previous configuration where
// its settings have not changed. It runs until the last configuration that has it is closed.
func newDisk(c config.Cache, r *resolution, d dependencies, previous *shared.Values) (diskStore, error) {
	if c.Disk == 0 || c.Responses == 0 {
		return diskStore{}, nil
	}
	directory := c.DiskDirectory
	if directory == "" {
		if directory = systemd.CacheDirectory(); directory == "" {
			return diskStore{}, errDiskDirectory
		}
	}
	basis := []any{c.Disk, directory}
	made, err := shared.Reuse(&r.shared, previous, "disk", basis, func() (diskStore, func(), error) {
		store, err := disk.Open(directory, disk.Config{MaxBytes: int64(c.Disk), Now: d.now, Log: d.log})
		if errors.Is(err, disk.ErrLocked) && previous != nil {
			err = fmt.Errorf("cache.disk cannot change by a reload, restart urnd: %w", err)
		}
		if err != nil {
			return diskStore{}, nil, err
		}
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { store.Run(ctx) })
		return diskStore{store}, func() {
			cancel()
			running.Wait()
			_ = store.Close() // nothing is to be saved
		}, nil
	})
	if err != nil {
		return made, fmt.Errorf("cache.disk_directory: %w", err)
	}
	r.caches = append(r.caches, made)
	return made, nil
}

// metrics implements observed.
func (s diskStore) metrics() metrics.Cache {
	held := s.Stats()
	return metrics.Cache{
		Name: "disk", Evictions: held.Evicted, Entries: held.Objects, Bytes: held.Bytes,
		Lookups: map[string]uint64{"failure": held.Faults + held.Corrupt},
	}
}
