package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/systemd"
	"github.com/urnd/urnd/uri"
)

// newCache returns the cache of that name: the one of the previous configuration where
// nothing that its contents rest on has changed. second may be nil.
func newCache[V any](
	r *resolution, c config.Config, d resolverDependencies, name string, of config.Contents, refresh bool, bounds memory.Config[V],
	second cache.SecondLevel[V],
) (observe.Cache[V], error) {
	made, err := shared.Reuse(&r.shared, d.previous.reusable(), name, c.Basis(of), func() (observe.Cache[V], func(), error) {
		store, err := memory.New(bounds)
		if err != nil {
			return observe.Cache[V]{}, nil, err
		}
		made := cache.New(cache.Config[V]{
			Store: store, Now: d.now, RefreshAhead: refresh, Second: second,
			Panicked: d.panicked, LoadTimeout: c.Resolve.Timeout, StaleFor: c.Cache.StaleFor, RetryAfter: c.Cache.RetryAfter,
		})
		return observe.Cache[V]{Cache: made, Store: store, Name: name}, func() { made.Close(); store.Close() }, nil
	})
	if err == nil {
		r.caches = append(r.caches, made)
	}
	return made, err
}

// newResponses returns the cache of HTTP responses: the one of the previous configuration where
// nothing that it depends on has changed. objects is what it shares, nil where there is no second level.
func newResponses(
	c config.Config, r *resolution, objects cache.Objects, d resolverDependencies, log *slog.Logger,
) (observe.Responses, error) {
	files, err := newDisk(c.Cache, r, d, log)
	if err != nil {
		return observe.Responses{}, err
	}
	make := func() (observe.Responses, func(), error) { return makeResponses(c, files.Store, objects, d) }
	made, err := shared.Reuse(&r.shared, d.previous.reusable(), "responses", c.Basis(config.Responses), make)
	if err == nil {
		r.caches = append(r.caches, made)
	}
	return made, err
}

// collapseLimit bounds the clients that have waited for another one in vain and ask one origin at a time, a quarter of them for one
// client: an origin that is slow for one request is not asked by all of its readers at once (RFC 9111 section 4).
const collapseLimit = 16

func makeResponses(c config.Config, files *disk.Store, objects cache.Objects, d resolverDependencies) (observe.Responses, func(), error) {
	settings := httpcache.Config{
		Now: d.now, Disk: files, Shared: objects, Basis: c.DiskBasis(),
		Heuristic: httpcache.Heuristic{Fraction: float64(c.Cache.HeuristicPercent) / 100, Most: c.Cache.HeuristicMax},
		MaxObject: int64(c.Cache.MaxResponse), MaxArriving: int64(c.Cache.Responses / 4), StaleFor: c.Cache.StaleFor,
		Safelisted: c.Cache.HarmlessFields, CollapseTimeout: c.Cache.CollapseTimeout, CollapseLimit: collapseLimit,
		Same: uri.SameOrigin, Panicked: d.panicked,
	}
	for _, name := range c.Proxy.Targeted {
		settings.Targeted = append(settings.Targeted, http.CanonicalHeaderKey(name))
	}
	if c.Cache.Responses == 0 {
		made := observe.Responses{Cache: httpcache.New(settings)}
		return made, made.Close, nil
	}
	store, err := memory.New(memory.Config[*httpcache.Entry]{
		MaxBytes: int64(c.Cache.Responses), Usual: usualResponse, Size: (*httpcache.Entry).Size,
	})
	if err != nil {
		return observe.Responses{}, nil, err
	}
	settings.Store = store
	made := observe.Responses{Cache: httpcache.New(settings), Store: store}
	return made, func() { made.Close(); store.Close() }, nil
}

// usualResponse is the memory of a usual response in bytes: most have a body of some KiB, and all a head.
const usualResponse = 4 << 10

// diskDirectory returns the directory for responses on disk, "" where none is known.
func diskDirectory(c config.Cache) string { return cmp.Or(c.DiskDirectory, systemd.CacheDirectory()) }

var errDiskDirectory = errors.New("cache.disk: there is no directory: " +
	"set cache.disk_directory, or CacheDirectory in the unit of systemd")

// newDisk returns the store of HTTP responses on disk: the one of the previous configuration where
// its settings have not changed. It runs until the last configuration that has it is closed.
func newDisk(c config.Cache, r *resolution, d resolverDependencies, log *slog.Logger) (observe.Disk, error) {
	if c.Disk == 0 || c.Responses == 0 {
		return observe.Disk{}, nil
	}
	directory := diskDirectory(c)
	if directory == "" {
		return observe.Disk{}, errDiskDirectory
	}
	basis := []any{c.Disk, directory}
	made, err := shared.Reuse(&r.shared, d.previous.reusable(), "disk", basis, func() (observe.Disk, func(), error) {
		store, err := disk.Open(directory, disk.Config{MaxBytes: int64(c.Disk), Now: d.now, Log: log})
		if errors.Is(err, disk.ErrLocked) && d.previous != nil {
			err = fmt.Errorf("cache.disk cannot change by a reload, restart urnd: %w", err)
		}
		if err != nil {
			return observe.Disk{}, nil, err
		}
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { store.Run(ctx) })
		return observe.Disk{Store: store}, func() {
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
