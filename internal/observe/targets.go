package observe

import (
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/resolver/registry/health"
)

// Targets returns the state of the checks of targets, which may be nil; nil where there are none.
func Targets(checks *health.Background) *metrics.Targets {
	sweep, lag, ok := checks.Sweep()
	if !ok {
		return nil
	}
	m := &metrics.Targets{States: make(map[string]int64), Lag: lag, Moved: sweep.Moved}
	for _, state := range health.States() {
		m.States[string(state)] = sweep.States[state]
	}
	return m
}
