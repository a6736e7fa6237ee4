package count

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/internal/robots"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

const (
	recordEvery    = time.Minute // interval at which counts are written
	recordMaxBytes = 16 << 20    // memory limit of the counts of one interval, in bytes
)

// Recorder counts the responses of all configurations that share a registry. It is safe for concurrent use.
type Recorder struct {
	counter *Counter
	robots  robots.Cache
	once    sync.Once
	running sync.WaitGroup
	cancel  context.CancelFunc
	log     atomic.Pointer[slog.Logger] // of the active configuration
}

// NewRecorder returns a Recorder that counts into a store, by a clock.
func NewRecorder(store registry.Store, now func() time.Time) *Recorder {
	r := &Recorder{cancel: func() {}}
	r.counter = NewCounter(CounterConfig{
		Store: store, Now: now, Every: recordEvery, MaxBytes: recordMaxBytes,
		After: time.After, State: r.state,
	})
	return r
}

// Start starts the goroutine that writes counts, at the first call only, and sets the log.
func (r *Recorder) Start(log *slog.Logger) {
	r.log.Store(log)
	r.once.Do(func() {
		var ctx context.Context
		ctx, r.cancel = context.WithCancel(context.Background())
		r.running.Go(func() { r.counter.Run(ctx) })
	})
}

// Close writes the last counts. It must be called after all calls of Start have returned.
func (r *Recorder) Close() {
	r.cancel()
	r.running.Wait()
}

// state logs whether counts can be written.
func (r *Recorder) state(err error) {
	if err != nil {
		r.log.Load().Warn("resolution counts write failed", "error", err)
		return
	}
	r.log.Load().Info("resolution counts write recovered")
}

// Record counts a response to a request with this User-Agent.
func (r *Recorder) Record(userAgent string, record *resolver.Record) {
	r.counter.Add(record.Name, r.robots.IsRobot(userAgent))
}
