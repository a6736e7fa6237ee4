package observe

import (
	"context"
	"os"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/follow"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// registryWithin limits the time for which a scrape waits for the registry.
const registryWithin = 2 * time.Second

// RegistryOf returns the state of the registry in store and of its file path, "" for a store without a file. It
// returns nil if store is nil or unavailable.
func RegistryOf(store *follow.Store, path string, now time.Time) *metrics.RegistryState {
	if store == nil {
		return nil
	}
	followed, ok := store.Followed()
	if !ok {
		return nil
	}
	ctx, end := context.WithTimeout(context.Background(), registryWithin)
	defer end()
	head, err := store.Head(ctx)
	if err != nil {
		return nil
	}
	m := &metrics.RegistryState{Versions: int64(head), Behind: max(int64(head-followed), 0)}
	if path != "" {
		m.Free, m.HasFile = FreeSpace(path)
		for _, file := range []string{path, path + "-wal"} {
			if info, err := os.Stat(file); err == nil {
				m.Size += info.Size()
			}
		}
	}
	if err := store.Read(ctx, func(tx registry.Tx) error { return readRegistry(tx, m, now) }); err != nil {
		return nil
	}
	return m
}

// readRegistry reads the state from the store.
func readRegistry(tx registry.Tx, m *metrics.RegistryState, now time.Time) error {
	groups, err := tx.Totals()
	if err != nil {
		return err
	}
	var all registry.Totals
	for _, totals := range groups {
		all = all.Plus(totals)
	}
	m.Names = map[string]int64{"active": all.Active, "reserved": all.Reserved, "withdrawn": all.Withdrawn}
	states, err := jobs.States(tx, now)
	if err != nil {
		return err
	}
	m.Jobs = make(map[string]int64, len(states))
	for state, n := range states {
		m.Jobs[string(state)] = n
	}
	if m.Backup, err = registry.MarkTime(tx, registry.MarkBackup); err != nil {
		return err
	}
	m.Verified, err = registry.MarkTime(tx, registry.MarkVerify)
	return err
}

// Targets returns the results of target checks, or nil if there are none. checks may be nil.
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
