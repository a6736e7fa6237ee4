package main

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/robots"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

const (
	countsEvery = time.Minute // how often counts of resolutions are written
	countsRoom  = 16 << 20    // octets of those of a minute
)

// counts are the counts of resolutions, over all configurations with one registry.
type counts struct {
	*registry.Counter
	robots  robots.Verdicts
	once    sync.Once
	running sync.WaitGroup
	cancel  context.CancelFunc
	log     atomic.Pointer[slog.Logger] // of the configuration in force
}

// wireCounts returns what counts the answers of the registry, nil where none are counted. They outlive
// a reload, and are written before their store is closed.
func wireCounts(r *resolution, c config.Config, d dependencies) (func(string, *resolver.Record), error) {
	if r.registry == nil || !c.Registry.Count {
		return nil, nil //nolint:nilnil // it counts nothing
	}
	var previous *shared.Values
	if d.previous != nil {
		previous = &d.previous.shared
	}
	store := r.registry // not the resolution, which the counts outlive
	n, err := shared.Reuse(&r.shared, previous, "counts", basisOfRegistry(c.Registry), func() (*counts, func(), error) {
		n := &counts{cancel: func() {}}
		n.Counter = registry.NewCounter(registry.CounterConfig{
			Store: store, Now: d.now, Every: countsEvery, Room: countsRoom, After: time.After, State: n.state,
		})
		return n, n.close, nil
	})
	if err != nil {
		return nil, err
	}
	r.starters = append(r.starters, func() { n.start(d.log) })
	return n.answered, nil
}

// start begins to write counts, which only the first call does, and logs to a log from then on.
func (n *counts) start(log *slog.Logger) {
	n.log.Store(log)
	n.once.Do(func() {
		var ctx context.Context
		ctx, n.cancel = context.WithCancel(context.Background())
		n.running.Go(func() { n.Run(ctx) })
	})
}

// close writes the last counts.
func (n *counts) close() {
	n.cancel()
	n.running.Wait()
}

// state logs whether counts can be written.
func (n *counts) state(err error) {
	if err != nil {
		n.log.Load().Warn("counts of resolutions cannot be written", "error", err)
		return
	}
	n.log.Load().Info("counts of resolutions are written again")
}

// answered counts an answer to a request.
func (n *counts) answered(userAgent string, record *resolver.Record) {
	n.Add(record.Name, n.robots.IsRobot(userAgent))
}
