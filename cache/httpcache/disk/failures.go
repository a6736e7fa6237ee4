package disk

import (
	"log/slog"
	"sync"
	"time"
)

// failureLogInterval is the minimum time between two log lines: a failing disk fails at every request.
const failureLogInterval = time.Minute

// failures logs and counts disk failures. It is safe for concurrent use.
type failures struct {
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	logged time.Time
	silent int    // failures not logged since then
	total  uint64 // failures since the store was opened
}

func (f *failures) report(operation string, err error) {
	f.mu.Lock()
	f.total++
	now := f.now()
	if !f.logged.IsZero() && now.Sub(f.logged) < failureLogInterval {
		f.silent++
		f.mu.Unlock()
		return
	}
	silent := f.silent
	f.logged, f.silent = now, 0
	f.mu.Unlock()
	f.log.Warn("disk cache operation failed, fetching its responses again",
		"operation", operation, "error", err, "unlogged", silent)
}

func (f *failures) count() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.total
}
