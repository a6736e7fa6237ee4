package observe

import (
	"context"
	"os"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/follow"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// registryWithin bounds how long a scrape waits for the registry.
const registryWithin = 2 * time.Second

// RegistryOf returns the state of the registry in a store, which may be nil, and of its file, "" where it is none; ok is false where it
// cannot be asked.
func RegistryOf(store *follow.Store, path string, now time.Time) (m metrics.RegistryState, ok bool) {
	if store == nil {
		return m, false
	}
	followed, ok := store.Followed()
	if !ok {
		return m, false
	}
	ctx, end := context.WithTimeout(context.Background(), registryWithin)
	defer end()
	head, err := store.Head(ctx)
	if err != nil {
		return m, false
	}
	m.Versions, m.Behind = int64(head), max(int64(head-followed), 0)
	if path != "" {
		m.Free, m.HasFile = FreeRoom(path)
		for _, file := range []string{path, path + "-wal"} {
			if info, err := os.Stat(file); err == nil {
				m.Size += info.Size()
			}
		}
	}
	err = store.Read(ctx, func(tx registry.Tx) error { return readRegistry(tx, &m, now) })
	return m, err == nil
}

// readRegistry reads what the store has.
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
	if m.Backup, err = registry.Marked(tx, registry.MarkBackup); err != nil {
		return err
	}
	m.Verified, err = registry.Marked(tx, registry.MarkVerify)
	return err
}
