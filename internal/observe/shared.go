package observe

import (
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/metrics"
)

// Shared is the second level of the caches. The zero value is none.
type Shared struct{ *valkey.Level }

// Metrics implements Observed.
func (s Shared) Metrics() metrics.Cache {
	counts := s.Stats()
	return metrics.Cache{Name: "shared", Lookups: map[string]uint64{
		"hit": counts.Hits, "miss": counts.Misses, "wait": counts.Waits, "failure": counts.Failures,
		"written": counts.Writes, "dropped": counts.Dropped, "full": counts.Full,
		"foreign": counts.Foreign, "purged": counts.Purged, "unknown": counts.Unknown, "unsuitable": counts.Unsuitable,
		"everything": counts.Everything,
	}}
}
